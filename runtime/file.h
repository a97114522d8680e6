// Whole files in and out.
#ifndef HETGPU_RUNTIME_FILE_H_
#define HETGPU_RUNTIME_FILE_H_

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

namespace hetgpu::runtime {

// The content of a regular file; nothing, with errno set, when it cannot be
// read whole.
std::optional<std::string> ReadFile(const std::string& path);

// Makes a new file, readable by its owner only, from `pieces`; false when it
// exists or not every byte could be written.
bool WriteFile(const std::string& path,
               std::initializer_list<std::string_view> pieces);

}  // namespace hetgpu::runtime

#endif  // HETGPU_RUNTIME_FILE_H_
