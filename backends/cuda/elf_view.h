// Sections of an ELF file in memory, as GPU core dumps and the code images in
// them are. Nothing in the file is trusted: what lies outside it is not there.
#ifndef HETGPU_BACKENDS_CUDA_ELF_VIEW_H_
#define HETGPU_BACKENDS_CUDA_ELF_VIEW_H_

#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace hetgpu::cuda {

// The number at `offset`; 0 beyond the end, as fields have that a writer of an
// older format left out.
template <typename T>
T NumberAt(std::string_view bytes, size_t offset) {
  T value = 0;
  if (offset <= bytes.size() && sizeof(T) <= bytes.size() - offset) {
    std::memcpy(&value, bytes.data() + offset, sizeof(T));
  }
  return value;
}

class ElfView {
 public:
  struct Section {
    std::string_view name;
    uint32_t type = 0;
    uint32_t link = 0, info = 0;
    uint64_t row_bytes = 0;  // of tables; else 0
    std::string_view content;

    size_t rows() const {
      return row_bytes == 0 ? 0 : content.size() / row_bytes;
    }
    // Row `index` of a table, empty when there is none.
    std::string_view Row(size_t index) const;
  };

  // InvalidArgument for what is no 64-bit little-endian ELF file. `file` must
  // outlive the view.
  static absl::StatusOr<ElfView> Open(std::string_view file);

  const std::vector<Section>& sections() const { return sections_; }
  // Null when there is none.
  const Section* At(size_t index) const;
  const Section* Named(std::string_view name) const;

 private:
  std::vector<Section> sections_;
};

}  // namespace hetgpu::cuda

#endif  // HETGPU_BACKENDS_CUDA_ELF_VIEW_H_
