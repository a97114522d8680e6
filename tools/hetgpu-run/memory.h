// The named buffers of a job in device memory.
#ifndef HETGPU_TOOLS_HETGPU_RUN_MEMORY_H_
#define HETGPU_TOOLS_HETGPU_RUN_MEMORY_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/hetgpu-run/init.h"
#include "tools/hetgpu-run/job.h"
#include "tools/hetgpu-run/session.h"

namespace hetgpu::tools {

// A stretch of device memory that holds elements.
struct DeviceArray {
  ElementType type = ElementType::kU8;
  uint64_t count = 0;
  uint64_t bytes = 0;
  hetgpuDevicePtr address = 0;
};

class Memory {
 public:
  explicit Memory(Session* session) : session_(session) {}

  // Makes the host content of all buffers and symbols and allocates. The job
  // must outlive this.
  absl::Status Create(const Job& job);

  // (Re)fills every buffer and symbol and undoes all swaps. Enqueued on the
  // session's stream; host content stays here until the end.
  absl::Status Initialize();

  // InvalidArgument when there is no such buffer.
  absl::StatusOr<DeviceArray> Find(const std::string& name) const;

  // The address itself; offsets past the end are allowed (a kernel may be
  // given them on purpose), unknown names are not.
  absl::StatusOr<hetgpuDevicePtr> Resolve(const Address& address) const;

  // From now on the names stand for each other's memory.
  absl::Status Swap(const std::string& a, const std::string& b);

  // FailedPrecondition when a `readonly` buffer has changed.
  absl::Status CheckReadonly() const;

 private:
  struct Entry {
    const BufferDef* def;
    HostArray host;
    DeviceArray device;
  };
  absl::Status CreateBuffer(const BufferDef& def);
  absl::Status CheckRoom(const HostArray& array);
  absl::Status CreateSymbol(const BufferDef& def);
  absl::Status Upload(Entry& entry);
  absl::Status MakeAddresses(const AddressesInit& list, Entry& entry);
  absl::Status CheckUnchanged(const Entry& entry) const;

  Session* session_;
  uint64_t untouched_ = 0;  // bytes allocated and not written yet
  std::vector<Entry> buffers_;
  std::vector<Entry> symbols_;
  std::map<std::string, size_t, std::less<>> names_;  // → buffers_, after swaps
};

}  // namespace hetgpu::tools

#endif  // HETGPU_TOOLS_HETGPU_RUN_MEMORY_H_
