// A ModuleInfo as records. Records grow at their end only (bytes.h).
#ifndef HETGPU_HETIR_CONTAINER_MANIFEST_H_
#define HETGPU_HETIR_CONTAINER_MANIFEST_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "hetir/module_info.h"

namespace hetgpu {

// Everything but data_init, which is a section of its own.
std::string EncodeManifest(const ModuleInfo& info);

// kDataLoss with what is wrong: cut short, or numbers that contradict each
// other (a parameter outside of its block, a symbol outside of the data, …).
// `data_init` becomes the initial data of the result.
absl::StatusOr<ModuleInfo> DecodeManifest(std::string_view bytes,
                                          std::string_view data_init);

}  // namespace hetgpu

#endif  // HETGPU_HETIR_CONTAINER_MANIFEST_H_
