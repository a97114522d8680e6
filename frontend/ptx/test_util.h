// Helpers of the front end's tests.
#ifndef HETGPU_FRONTEND_PTX_TEST_UTIL_H_
#define HETGPU_FRONTEND_PTX_TEST_UTIL_H_

#include <memory>
#include <string>
#include <string_view>

#include "frontend/ptx/ast.h"
#include "frontend/ptx/parser.h"
#include "frontend/ptx/text.h"

namespace hetgpu::ptx {

inline constexpr std::string_view kHeader =
    ".version 8.7\n.target sm_90a\n.address_size 64\n";

// A module with one kernel `k` whose body is `body`, with registers of every
// kind. The first line of `body` is line 16 of the module.
inline std::string KernelText(std::string_view body,
                              std::string_view header = kHeader) {
  return Cat(header,
             ".extern .shared .align 16 .b8 dyn[];\n"
             ".global .align 4 .u32 g[4] = {1, 2};\n"
             ".func (.param .b32 r) callee(.param .b64 x) { ret; }\n"
             ".visible .entry k(.param .u64 a, .param .u32 n)\n"
             "{\n"
             ".reg .pred %p<4>; .reg .b16 %rs<9>; .reg .b32 %r<40>;\n"
             ".reg .b64 %rd<9>; .reg .f32 %f<9>; .reg .f64 %fd<9>;\n"
             ".reg .s32 %s<4>; .reg .b128 %q<4>; .reg .f16 %h<4>;\n"
             ".reg .f16x2 %hh<4>; .reg .v4 .f32 v; .reg .u8 %b<4>;\n"
             ".shared .align 8 .b8 sh[64]; .local .align 4 .b8 lo[16];\n"
             ".param .b64 p0; .param .b32 r0;\n",
             "\n", body, "\n}\n");
}

// The parsed module, or null with the message in `error`.
inline std::unique_ptr<Module> ParseOrError(std::string_view text,
                                            std::string* error) {
  auto module = Parse(text, "t.ptx");
  if (module.ok()) return *std::move(module);
  *error = std::string(module.status().message());
  return nullptr;
}

inline const Function* FindFunction(const Module& module,
                                    std::string_view name) {
  auto index = module.FindFunction(name);
  return index ? &module.functions[*index] : nullptr;
}

}  // namespace hetgpu::ptx

#endif  // HETGPU_FRONTEND_PTX_TEST_UTIL_H_
