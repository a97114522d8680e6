// Parsing speed on a module like those of nvcc: the instruction mix follows the
// frequencies measured in public CUDA code.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <cstdlib>
#include <string>

#include "frontend/ptx/parser.h"
#include "frontend/ptx/sema.h"
#include "frontend/ptx/text.h"

namespace hetgpu::ptx {
namespace {

class Generator {
 public:
  std::string Module(int kernels, int instructions) {
    std::string out =
        "//\n// Generated\n//\n\n.version 9.0\n.target sm_80\n"
        ".address_size 64\n\n";
    for (int i = 0; i < kernels; ++i) Kernel(i, instructions, &out);
    return out;
  }

 private:
  uint32_t Next(uint32_t bound) {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<uint32_t>(state_ >> 33) % bound;
  }
  std::string R() { return Cat("%r", 1 + Next(400)); }
  std::string F() { return Cat("%f", 1 + Next(400)); }
  std::string D() { return Cat("%rd", 1 + Next(100)); }
  std::string P() { return Cat("%p", 1 + Next(60)); }

  void Kernel(int index, int instructions, std::string* out) {
    std::string name = Cat("_Z6kernel", index, "PKfPfii");
    *out += Cat("\t// .globl\t", name, "\n.visible .entry ", name,
                "(\n\t.param .u64 .ptr .align 1 ", name,
                "_param_0,\n\t.param .u64 .ptr .align 1 ", name,
                "_param_1,\n\t.param .u32 ", name,
                "_param_2\n)\n{\n\t.reg .pred \t%p<61>;\n\t.reg .b32 "
                "\t%r<401>;\n\t.reg .f32 \t%f<401>;\n\t.reg .b64 "
                "\t%rd<101>;\n\n\tld.param.u64 \t%rd1, [",
                name, "_param_0];\n");
    for (int i = 0; i < instructions; ++i) {
      if (i % 16 == 15) {
        *out += Cat("\n$L__BB", index, "_", i / 16, ":\n");
      }
      Instruction(index, instructions / 16, out);
    }
    *out += "\tret;\n\n}\n";
  }

  void Instruction(int index, int labels, std::string* out) {
    switch (Next(20)) {
      case 0:
        *out += Cat("\tmov.b32 \t", R(), ", ", Next(1000), ";\n");
        break;
      case 1:
        *out += Cat("\tmov.u32 \t", R(), ", %tid.x;\n");
        break;
      case 2:
      case 3:
      case 4:
        *out +=
            Cat("\tfma.rn.f32 \t", F(), ", ", F(), ", ", F(), ", ", F(), ";\n");
        break;
      case 5:
      case 6:
        *out += Cat("\tadd.s32 \t", R(), ", ", R(), ", ", Next(4096), ";\n");
        break;
      case 7:
        *out += Cat("\tmul.wide.s32 \t", D(), ", ", R(), ", 4;\n");
        break;
      case 8:
      case 9:
        *out += Cat("\tadd.s64 \t", D(), ", ", D(), ", ", D(), ";\n");
        break;
      case 10:
        *out += Cat("\tld.global.nc.f32 \t", F(), ", [", D(), "+",
                    4 * Next(256), "];\n");
        break;
      case 11:
        *out += Cat("\tst.global.f32 \t[", D(), "], ", F(), ";\n");
        break;
      case 12:
        *out += Cat("\tsetp.lt.s32 \t", P(), ", ", R(), ", ", R(), ";\n");
        break;
      case 13:
        *out +=
            Cat("\t@", P(), " bra \t$L__BB", index, "_", Next(labels), ";\n");
        break;
      case 14:
        *out += Cat("\tshl.b32 \t", R(), ", ", R(), ", 2;\n");
        break;
      case 15:
        *out += Cat("\tand.b32  \t", R(), ", ", R(), ", 31;\n");
        break;
      case 16:
        *out += Cat("\tmul.f32 \t", F(), ", ", F(), ", 0f3F000000;\n");
        break;
      case 17:
        *out += Cat("\tld.shared.v4.f32 \t{", F(), ", ", F(), ", ", F(), ", ",
                    F(), "}, [", R(), "+16];\n");
        break;
      case 18:
        *out += Cat("\tcvt.rn.f32.s32 \t", F(), ", ", R(), ";\n");
        break;
      default:
        *out +=
            Cat("\tselp.b32 \t", R(), ", ", R(), ", ", R(), ", ", P(), ";\n");
    }
  }

  uint64_t state_ = 1;
};

void Run(benchmark::State& state, int kernels, int instructions, bool sema) {
  std::string text = Generator().Module(kernels, instructions);
  for (auto _ : state) {
    auto module = Parse(text, "bench.ptx");
    if (!module.ok()) std::abort();
    for (const Function& function : (*module)->functions) {
      if (!function.refusal.ok()) std::abort();
    }
    if (sema) {
      auto info = BuildModuleInfo(**module);
      if (!info.ok()) std::abort();
      benchmark::DoNotOptimize(info);
    }
    benchmark::DoNotOptimize(module);
  }
  state.SetBytesProcessed(
      static_cast<int64_t>(state.iterations() * text.size()));
  state.counters["MB"] = static_cast<double>(text.size()) / 1e6;
}

void ParseManyKernels(benchmark::State& state) { Run(state, 2000, 200, false); }
void ParseHugeKernel(benchmark::State& state) { Run(state, 1, 400000, false); }
void ParseAndSema(benchmark::State& state) { Run(state, 2000, 200, true); }
void ParseSmallKernel(benchmark::State& state) { Run(state, 1, 100, false); }

BENCHMARK(ParseManyKernels)->Unit(benchmark::kMillisecond);
BENCHMARK(ParseHugeKernel)->Unit(benchmark::kMillisecond);
BENCHMARK(ParseAndSema)->Unit(benchmark::kMillisecond);
BENCHMARK(ParseSmallKernel)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace hetgpu::ptx

BENCHMARK_MAIN();
