// What the linker needs of an object file, read once.
#ifndef HETGPU_BACKENDS_CPU_COMPILE_OBJECT_FILE_H_
#define HETGPU_BACKENDS_CPU_COMPILE_OBJECT_FILE_H_

#include <vector>

#include "absl/status/statusor.h"
#include "backends/cpu/abi.h"
#include "llvm/Object/ELFObjectFile.h"

namespace hetgpu::cpu {

using ElfObject = llvm::object::ELF64LEObjectFile;

// Offset in .text to PTX line, from the debug line table; merged and sorted.
// Offsets are those of the one text section.
std::vector<LineRecord> ReadLines(const ElfObject& object);

// Bytes of stack the entry and everything it calls need; 0 when not known
// (recursion, no sizes).
uint32_t ReadStackBytes(const ElfObject& object);

}  // namespace hetgpu::cpu

#endif  // HETGPU_BACKENDS_CPU_COMPILE_OBJECT_FILE_H_
