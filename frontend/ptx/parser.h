// PTX text to syntax tree. Grammar: instructions.def (instructions) and the
// parse_*.cc files (directives).
#ifndef HETGPU_FRONTEND_PTX_PARSER_H_
#define HETGPU_FRONTEND_PTX_PARSER_H_

#include <cstdint>
#include <memory>
#include <string_view>

#include "absl/status/statusor.h"
#include "frontend/ptx/ast.h"

namespace hetgpu::ptx {

// Bounds on what one module may ask for. Beyond them: kResourceExhausted.
struct ParseOptions {
  uint64_t max_text_bytes = uint64_t{1} << 28;
  uint32_t max_registers_per_function = 1u << 20;
  uint64_t max_variable_bytes = uint64_t{1} << 32;
  uint64_t max_initializer_bytes = uint64_t{1} << 28;  // of all variables
  uint32_t max_block_depth = 64;
};

// Parses a whole module. `text` is copied; a trailing NUL is allowed.
//
// An error inside a function's body refuses that function alone
// (Function::refusal); an error at module level refuses the module. Messages
// start with "file_name:line:column: ". Codes: kInvalidArgument (malformed, or
// breaks a rule of PTX), kUnimplemented (a known or unknown thing that this
// front end does not take), kResourceExhausted (a limit above).
// Thread-safe: calls share nothing but constant tables.
absl::StatusOr<std::unique_ptr<Module>> Parse(std::string_view text,
                                              std::string_view file_name,
                                              const ParseOptions& options = {});

}  // namespace hetgpu::ptx

#endif  // HETGPU_FRONTEND_PTX_PARSER_H_
