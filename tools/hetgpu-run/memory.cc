#include "tools/hetgpu-run/memory.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "tools/common/exit_code.h"
#include "tools/common/status_macros.h"
#include "tools/common/text.h"

namespace hetgpu::tools {
namespace {

// Buffers smaller than this together are not worth the question.
constexpr uint64_t kLargeRun = uint64_t{256} << 20;

absl::Status FillZero(const DeviceArray& array, hetgpuStream stream) {
  const uint32_t unit = array.bytes % 8 == 0 ? 8 : 1;
  return ToStatus(
      hetgpuMemFillAsync(array.address, 0, unit, array.bytes / unit, stream));
}

}  // namespace

// Memory of a device that is the host itself is promised like the host's: see
// HostBytes::Uninitialized.
absl::Status Memory::CheckRoom(const HostArray& array) {
  if (session_->device().host_addressable == 0) return absl::OkStatus();
  untouched_ += array.bytes;
  if (untouched_ < kLargeRun || untouched_ <= AvailableMemory()) {
    return absl::OkStatus();
  }
  return absl::ResourceExhaustedError(Cat("out of memory: ", untouched_,
                                          " bytes of buffers, but only ",
                                          AvailableMemory(), " are left"));
}

absl::Status Memory::CreateBuffer(const BufferDef& def) {
  Entry entry{.def = &def, .host = {}, .device = {}};
  ASSIGN_OR_RETURN(entry.host, MakeHostArray(def));
  RETURN_IF_ERROR(
      Annotate(CheckRoom(entry.host), Cat("buffer '", def.name, "'")));
  entry.device = {entry.host.type, entry.host.count, entry.host.bytes, 0};
  // An empty buffer has an address all the same.
  const uint64_t bytes = std::max<uint64_t>(entry.host.bytes, 1);
  RETURN_IF_ERROR(
      Annotate(ToStatus(hetgpuMemAlloc(session_->context(), bytes,
                                       &entry.device.address)),
               Cat("buffer '", def.name, "' of ", bytes, " bytes")));
  buffers_.push_back(std::move(entry));
  return absl::OkStatus();
}

absl::Status Memory::CreateSymbol(const BufferDef& def) {
  Entry entry{.def = &def, .host = {}, .device = {}};
  ASSIGN_OR_RETURN(entry.host, MakeHostArray(def));
  ASSIGN_OR_RETURN(const Symbol symbol, session_->FindSymbol(def.name));
  if (entry.host.bytes > symbol.size) {
    return absl::InvalidArgumentError(Cat("symbol '", def.name, "' has ",
                                          symbol.size, " bytes, but ",
                                          entry.host.bytes, " are given"));
  }
  entry.device = {entry.host.type, entry.host.count, entry.host.bytes,
                  symbol.address};
  symbols_.push_back(std::move(entry));
  return absl::OkStatus();
}

absl::Status Memory::Create(const Job& job) {
  buffers_.reserve(job.buffers.size());
  for (const BufferDef& def : job.buffers) {
    RETURN_IF_ERROR(CreateBuffer(def));
    if (!names_.emplace(def.name, buffers_.size() - 1).second) {
      return absl::InvalidArgumentError(
          Cat("two buffers are called '", def.name, "'"));
    }
  }
  symbols_.reserve(job.symbols.size());
  for (const BufferDef& def : job.symbols) {
    RETURN_IF_ERROR(CreateSymbol(def));
  }
  // Addresses can name any buffer, so all must be there first.
  for (std::vector<Entry>* entries : {&buffers_, &symbols_}) {
    for (Entry& entry : *entries) {
      if (const auto* list = std::get_if<AddressesInit>(&entry.def->init)) {
        RETURN_IF_ERROR(Annotate(MakeAddresses(*list, entry),
                                 Cat("'", entry.def->name, "'")));
      }
    }
  }
  return absl::OkStatus();
}

absl::Status Memory::MakeAddresses(const AddressesInit& list, Entry& entry) {
  ASSIGN_OR_RETURN(entry.host.data, HostBytes::Uninitialized(entry.host.bytes));
  entry.host.has_data = true;
  uint8_t* out = entry.host.data.data();
  for (const Address& address : list.addresses) {
    ASSIGN_OR_RETURN(const hetgpuDevicePtr value, Resolve(address));
    std::memcpy(out, &value, sizeof value);
    out += sizeof value;
  }
  return absl::OkStatus();
}

absl::Status Memory::Upload(Entry& entry) {
  if (entry.device.bytes == 0) return absl::OkStatus();
  if (!entry.host.has_data) return FillZero(entry.device, session_->stream());
  return ToStatus(
      hetgpuMemCopyHtoDAsync(entry.device.address, entry.host.data.data(),
                             entry.device.bytes, session_->stream()));
}

absl::Status Memory::Initialize() {
  for (size_t i = 0; i < buffers_.size(); ++i) {
    names_[buffers_[i].def->name] = i;
    RETURN_IF_ERROR(Upload(buffers_[i]));
  }
  for (Entry& entry : symbols_) RETURN_IF_ERROR(Upload(entry));
  return absl::OkStatus();
}

absl::StatusOr<DeviceArray> Memory::Find(const std::string& name) const {
  const auto found = names_.find(name);
  if (found == names_.end()) {
    return absl::InvalidArgumentError(Cat("no buffer is called '", name, "'"));
  }
  return buffers_[found->second].device;
}

absl::StatusOr<hetgpuDevicePtr> Memory::Resolve(const Address& address) const {
  if (address.base == Address::Base::kNull) return hetgpuDevicePtr{0};
  if (address.base == Address::Base::kSymbol) {
    ASSIGN_OR_RETURN(const Symbol symbol, session_->FindSymbol(address.name));
    return symbol.address + address.offset;
  }
  ASSIGN_OR_RETURN(const DeviceArray array, Find(address.name));
  return array.address + address.offset;
}

absl::Status Memory::Swap(const std::string& a, const std::string& b) {
  ASSIGN_OR_RETURN(const DeviceArray first, Find(a));
  ASSIGN_OR_RETURN(const DeviceArray second, Find(b));
  if (first.type != second.type || first.count != second.count) {
    return absl::InvalidArgumentError(
        Cat("'", a, "' and '", b, "' differ in type or count"));
  }
  std::swap(names_[a], names_[b]);
  return absl::OkStatus();
}

absl::Status Memory::CheckUnchanged(const Entry& entry) const {
  if (entry.device.bytes == 0) return absl::OkStatus();
  ASSIGN_OR_RETURN(HostBytes now, HostBytes::Uninitialized(entry.device.bytes));
  RETURN_IF_ERROR(
      ToStatus(hetgpuMemCopyDtoH(session_->context(), now.data(),
                                 entry.device.address, entry.device.bytes)));
  if (entry.host.has_data &&
      std::memcmp(now.data(), entry.host.data.data(), now.size()) == 0) {
    return absl::OkStatus();
  }
  const uint32_t size = SizeOf(entry.device.type);
  for (uint64_t i = 0; i < entry.device.count; ++i) {
    const uint64_t before =
        entry.host.has_data
            ? LoadElement(entry.host.data.data() + i * size, entry.device.type)
            : 0;
    const uint64_t after =
        LoadElement(now.data() + i * size, entry.device.type);
    if (before == after) continue;
    return absl::FailedPreconditionError(
        Cat("readonly buffer '", entry.def->name, "' was changed: element ", i,
            " was ", FormatElement(before, entry.device.type), " and is now ",
            FormatElement(after, entry.device.type)));
  }
  return absl::OkStatus();
}

absl::Status Memory::CheckReadonly() const {
  for (const Entry& entry : buffers_) {
    if (entry.def->readonly) RETURN_IF_ERROR(CheckUnchanged(entry));
  }
  return absl::OkStatus();
}

}  // namespace hetgpu::tools
