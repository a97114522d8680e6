// A fault names the line of its access, whatever was made of the access: loads
// folded into what uses them, moved out of loops or in front of branches, made
// once for all lanes; accesses of two branches that look alike.
#include <algorithm>
#include <string>
#include <string_view>

#include "tests/conformance/conformance.h"

namespace hetgpu::conformance {
namespace {

// Kernels take pointers p, q and out, and n. An access that a test wants to see
// fail has a name in a comment.
//
//   %t thread, %rd1 p, %rd2 q, %rd3 out, %n n; %p4, %q4, %out4 the thread's
//   elements of p, q and out
constexpr std::string_view kHeader = R"(
.version 8.0
.target sm_80
.address_size 64
.const .align 4 .b32 table[64];
)";

constexpr std::string_view kEntry = R"((.param .u64 p, .param .u64 q,
    .param .u64 out, .param .u32 n)
{
  .reg .pred %c, %d;
  .reg .b32 %t, %n, %v, %w, %i, %sum;
  .reg .b64 %rd<5>, %p4, %q4, %out4;
  ld.param.u64 %rd1, [p];
  ld.param.u64 %rd2, [q];
  ld.param.u64 %rd3, [out];
  ld.param.u32 %n, [n];
  mov.u32 %t, %tid.x;
  mul.wide.u32 %rd4, %t, 4;
  add.s64 %p4, %rd1, %rd4;
  add.s64 %q4, %rd2, %rd4;
  add.s64 %out4, %rd3, %rd4;
  setp.lt.u32 %c, %t, %n;
)";

struct Kernel {
  const char* name;
  std::string_view body;
};

constexpr Kernel kKernels[] = {
    {"one_for_all_lanes", R"(
  ld.global.u32 %v, [%rd1]; // one_for_all_lanes
  st.global.u32 [%out4], %v;
)"},
    {"one_to_one", R"(
  ld.global.u32 %v, [%rd1]; // one_to_one
  st.global.u32 [%rd3], %v;
)"},
    {"of_the_table", R"(
  mul.wide.u32 %rd4, %n, 4;
  mov.u64 %rd1, table;
  add.s64 %rd1, %rd1, %rd4;
  ld.const.u32 %v, [%rd1]; // of_the_table
  st.global.u32 [%rd3], %v;
)"},
    {"stores_of_branches", R"(
  @%c bra THEN;
  st.global.u32 [%q4], 2; // stores_of_branches.else
  bra.uni DONE;
THEN:
  st.global.u32 [%p4], 1; // stores_of_branches.then
DONE:
)"},
    {"loads_of_branches", R"(
  @%c bra THEN;
  ld.global.u32 %v, [%q4]; // loads_of_branches.else
  bra.uni DONE;
THEN:
  ld.global.u32 %v, [%p4]; // loads_of_branches.then
DONE:
  st.global.u32 [%out4], %v;
)"},
    {"words_of_branches", R"(
  @%c bra THEN;
  ld.global.s16 %v, [%q4]; // words_of_branches.else
  bra.uni DONE;
THEN:
  ld.global.s16 %v, [%p4]; // words_of_branches.then
DONE:
  st.global.u32 [%out4], %v;
)"},
    {"one_address_loaded", R"(
  @%c bra THEN;
  ld.global.u32 %v, [%p4]; // one_address_loaded.else
  add.u32 %v, %v, 5;
  bra.uni DONE;
THEN:
  ld.global.u32 %v, [%p4]; // one_address_loaded.then
  mul.lo.u32 %v, %v, 7;
DONE:
  st.global.u32 [%out4], %v;
)"},
    {"one_address_stored", R"(
  @%c bra THEN;
  st.global.u32 [%p4], 2; // one_address_stored.else
  bra.uni DONE;
THEN:
  st.global.u32 [%p4], 1; // one_address_stored.then
DONE:
)"},
    {"predicated", R"(
  @%c ld.global.u32 %v, [%p4]; // predicated.then
  @!%c ld.global.u32 %v, [%q4]; // predicated.else
  st.global.u32 [%out4], %v;
)"},
    {"predicated_stores", R"(
  @%c st.global.u32 [%p4], 7; // predicated_stores.then
  @!%c st.global.u32 [%q4], 7; // predicated_stores.else
)"},
    {"added_to_a_run", R"(
  ld.global.u32 %v, [%q4];
  ld.global.u32 %w, [%rd1]; // added_to_a_run
  add.u32 %v, %v, %w;
  st.global.u32 [%out4], %v;
)"},
    {"run_in_arithmetic", R"(
  ld.global.u32 %v, [%q4];
  ld.global.u32 %w, [%p4]; // run_in_arithmetic
  mul.lo.u32 %v, %v, %w;
  st.global.u32 [%out4], %v;
)"},
    {"in_a_loop", R"(
  mov.u32 %i, 0;
  mov.u32 %sum, 0;
LOOP:
  ld.global.u32 %v, [%q4];
  ld.global.u32 %w, [%rd1]; // in_a_loop
  mad.lo.u32 %sum, %v, %w, %sum;
  st.global.u32 [%out4], %sum;
  add.u32 %i, %i, 1;
  setp.lt.u32 %d, %i, %n;
  @%d bra LOOP;
)"},
};

std::string Source() {
  std::string text(kHeader);
  for (const Kernel& kernel : kKernels) {
    text += ".visible .entry " + std::string(kernel.name);
    text += kEntry;
    text += kernel.body;
    text += "  ret;\n}\n";
  }
  return text;
}

// Lines are counted from 1; 0: there is none.
uint32_t LineOf(const std::string& source, const std::string& access) {
  const size_t at = source.find("// " + access + "\n");
  if (at == std::string::npos) return 0;
  return 1 + std::count(source.begin(), source.begin() + at, '\n');
}

class FaultLinesSuite : public DeviceTest {
 protected:
  void SetUp() override {
    DeviceTest::SetUp();
    if (context_ == nullptr) return;
    ASSERT_SUCCESS(hetgpuModuleLoadData(context_, source_.data(),
                                        source_.size(), nullptr, &module_));
    good_ = Zeroes(kThreads);
    out_ = Zeroes(kThreads);
    bad_ = good_ + (uint64_t{1} << 36);
  }

  // `access` is "kernel" or "kernel.part".
  void ExpectLine(const std::string& access, hetgpuDevicePtr p,
                  hetgpuDevicePtr q, uint32_t n) {
    hetgpuFunction function = nullptr;
    ASSERT_SUCCESS(hetgpuModuleGetFunction(
        module_, access.substr(0, access.find('.')).c_str(), &function));
    EXPECT_RESULT(HETGPU_ERROR_LAUNCH_ILLEGAL_ADDRESS,
                  Run(function, {{1, 1, 1}, {kThreads, 1, 1}}, p, q, out_, n));
    ASSERT_NE(LineOf(source_, access), 0u) << access;
    EXPECT_EQ(LastLaunchError().line, LineOf(source_, access))
        << access << ": " << LastLaunchError().text;
    ExpectUsable();
  }

  static constexpr uint32_t kThreads = 96;
  const std::string source_ = Source();
  hetgpuModule module_ = nullptr;
  hetgpuDevicePtr good_ = 0, bad_ = 0, out_ = 0;
};

TEST_P(FaultLinesSuite, LoadsOfOneAddress) {
  ExpectLine("one_for_all_lanes", bad_, good_, 0);
  ExpectLine("one_to_one", bad_, good_, 0);
}

TEST_P(FaultLinesSuite, LoadsOfATable) {
  ExpectLine("of_the_table", good_, good_, 1u << 28);
}

TEST_P(FaultLinesSuite, AccessesOfBranches) {
  for (const std::string kernel :
       {"stores_of_branches", "loads_of_branches", "words_of_branches",
        "predicated", "predicated_stores"}) {
    for (const uint32_t n : {1u, 40u, kThreads}) {
      ExpectLine(kernel + ".then", bad_, good_, n);
    }
    for (const uint32_t n : {0u, 40u, kThreads - 1}) {
      ExpectLine(kernel + ".else", good_, bad_, n);
    }
  }
}

TEST_P(FaultLinesSuite, AccessesToOneAddressInBranches) {
  for (const std::string kernel : {"one_address_loaded", "one_address_stored"}) {
    ExpectLine(kernel + ".then", bad_, good_, kThreads);
    ExpectLine(kernel + ".else", bad_, good_, 0);
  }
}

TEST_P(FaultLinesSuite, LoadsThatArithmeticUsesAtOnce) {
  ExpectLine("added_to_a_run", bad_, good_, 0);
  ExpectLine("run_in_arithmetic", bad_, good_, 0);
}

TEST_P(FaultLinesSuite, LoadsThatLoopsRepeat) {
  ExpectLine("in_a_loop", bad_, good_, 5);
}

HETGPU_CONFORMANCE(FaultLinesSuite);

}  // namespace
}  // namespace hetgpu::conformance
