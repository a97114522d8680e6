#include "frontend/ptx/grammar.h"

#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <string>

#include "frontend/ptx/dump.h"

namespace hetgpu::ptx {
namespace {

constexpr TargetLevel kNewest = {90, 120, 'a'};

std::string Resolve(std::string_view opcode, TargetLevel level = kNewest) {
  std::vector<Candidate> candidates;
  absl::Status status = ResolveOpcode(opcode, level, &candidates);
  if (!status.ok()) return std::string(status.message());
  return DumpModifiers(candidates[0].modifiers);
}

TEST(GrammarTest, EveryOpHasARow) {
  std::set<Op> seen;
  for (const Form& form : AllForms()) seen.insert(form.op);
  size_t ops = 0;
#define OP(name, family) \
  ++ops;                 \
  EXPECT_TRUE(seen.contains(Op::k##name)) << "no row for " family;
#include "frontend/ptx/ops.def"
#undef OP
  EXPECT_EQ(seen.size(), ops);
}

TEST(GrammarTest, EveryRowMatchesItsOwnSpelling) {
  for (const Form& form : AllForms()) {
    // The first word of every class, optional parts left out.
    std::string classes = ExpandClasses(form);
    std::string opcode(form.syntax.substr(0, form.syntax.find(' ')));
    while (opcode.find('{') != opcode.npos) {
      size_t open = opcode.find('{');
      opcode.erase(open, opcode.find('}') - open + 1);
    }
    size_t at = 0;
    while (at < classes.size()) {
      size_t equals = classes.find(" = ", at);
      std::string name = classes.substr(at, equals - at);
      size_t end = std::min(classes.find(';', at), classes.size());
      std::string word = classes.substr(equals + 3, end - equals - 3);
      word = word.substr(0, word.find(' '));
      size_t place = (opcode + ".").find(name + ".");
      if (place != opcode.npos) opcode.replace(place, name.size(), word);
      at = end + 2;
    }
    std::vector<Candidate> candidates;
    absl::Status status = ResolveOpcode(opcode, kNewest, &candidates);
    EXPECT_TRUE(status.ok()) << form.syntax << ": " << status;
    bool found = false;
    for (const Candidate& candidate : candidates) {
      found |= candidate.form == &form;
    }
    EXPECT_TRUE(found) << form.syntax << " is not matched by " << opcode;
  }
}

// The spellings that public CUDA code is known to use.
TEST(GrammarTest, KnowsTheCorpus) {
  std::ifstream file(HETGPU_SOURCE_DIR "/tests/ptx/opcodes.txt");
  ASSERT_TRUE(file.is_open());
  std::string opcode;
  size_t count = 0;
  while (std::getline(file, opcode)) {
    std::vector<Candidate> candidates;
    absl::Status status = ResolveOpcode(opcode, kNewest, &candidates);
    EXPECT_TRUE(status.ok()) << status;
    ++count;
  }
  EXPECT_GT(count, 1300u);
}

struct DecodeCase {
  const char* opcode;
  const char* fields;
};

class DecodeTest : public testing::TestWithParam<DecodeCase> {};

TEST_P(DecodeTest, Fields) {
  EXPECT_EQ(Resolve(GetParam().opcode), GetParam().fields);
}

INSTANTIATE_TEST_SUITE_P(
    All, DecodeTest,
    testing::Values(
        DecodeCase{"add.s32", "types=s32"},
        DecodeCase{"cvt.rn.f32.f64", "types=f32,f64 rounding=1"},
        DecodeCase{"cvt.f64.f32", "types=f64,f32"},
        DecodeCase{"ld.global.nc.v4.f32", "types=f32 space=global vector=4 nc"},
        DecodeCase{"ld.shared::cluster.u32", "types=u32 space=shared::cluster"},
        DecodeCase{"ld.global.L2::128B.v4.u32",
                   "types=u32 space=global l2_prefetch=128 vector=4"},
        DecodeCase{"mul.lo.u32", "types=u32 mode=1"},
        DecodeCase{"setp.lo.u32", "types=u32 compare=7"},
        DecodeCase{"setp.eq.and.u32", "types=u32 compare=1 operation=1"},
        DecodeCase{"cp.async.cg.shared.global.L2::128B",
                   "space=shared space2=global cache=2 l2_prefetch=128 "
                   "async"},
        DecodeCase{"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32",
                   "types=f32,f16,f16,f32 shape=16x8x16 layout_a=1 layout_b=2 "
                   "sync aligned"},
        DecodeCase{"bar.red.popc.u32", "types=u32 operation=11"},
        DecodeCase{"membar.gl", "scope=3"},
        DecodeCase{"fence.acq_rel.sys", "semantics=6 scope=4"}));

struct OrderCase {
  const char* written;
  const char* canonical;
};

class OrderTest : public testing::TestWithParam<OrderCase> {};

TEST_P(OrderTest, DoesNotMatter) {
  EXPECT_EQ(Resolve(GetParam().written), Resolve(GetParam().canonical));
}

INSTANTIATE_TEST_SUITE_P(
    All, OrderTest,
    testing::Values(OrderCase{"vote.ballot.sync.b32", "vote.sync.ballot.b32"},
                    OrderCase{"ldmatrix.sync.aligned.x4.m8n8.shared.b16",
                              "ldmatrix.sync.aligned.m8n8.x4.shared.b16"},
                    OrderCase{"red.and.release.cta.b32",
                              "red.release.cta.and.b32"},
                    OrderCase{"setp.ftz.eq.f32", "setp.eq.ftz.f32"},
                    OrderCase{"div.ftz.rn.f32", "div.rn.ftz.f32"},
                    OrderCase{"cvt.f32.rn.f64", "cvt.rn.f32.f64"},
                    OrderCase{"st.v4.global.f32", "st.global.v4.f32"},
                    OrderCase{"ld.shared::cta.u32", "ld.shared.u32"}));

TEST(GrammarTest, TypesKeepTheirOrder) {
  EXPECT_NE(Resolve("cvt.f64.f32"), Resolve("cvt.rn.f32.f64"));
  // Widening needs no rounding, narrowing does: order is what tells.
  EXPECT_NE(Resolve("cvt.f32.f64").find("no form of 'cvt'"), std::string::npos);
}

struct ErrorCase {
  const char* opcode;
  TargetLevel level;
  const char* message;
};

class GrammarErrorTest : public testing::TestWithParam<ErrorCase> {};

TEST_P(GrammarErrorTest, Says) {
  EXPECT_EQ(Resolve(GetParam().opcode, GetParam().level), GetParam().message);
}

INSTANTIATE_TEST_SUITE_P(
    All, GrammarErrorTest,
    testing::Values(
        ErrorCase{"frobnicate.u32", kNewest,
                  "unknown instruction 'frobnicate.u32'"},
        ErrorCase{"add.quick.s32", kNewest,
                  "unsupported modifier '.quick' of 'add' in 'add.quick.s32'"},
        ErrorCase{"add.", kNewest,
                  "unsupported modifier '.' of 'add' in "
                  "'add.'"},
        ErrorCase{"add.sat.u32", kNewest,
                  "no form of 'add' has the modifiers of 'add.sat.u32'; the "
                  "closest is 'add.sat.s32 d, a, b'"},
        ErrorCase{"redux.sync.add.s32",
                  {80, 75, 0},
                  "'redux.sync.add.s32' needs sm_80, but the module's target "
                  "is sm_75"},
        ErrorCase{"redux.sync.add.s32",
                  {63, 80, 0},
                  "'redux.sync.add.s32' needs PTX ISA 7.0, but the module "
                  "declares .version 6.3"},
        ErrorCase{"wgmma.fence.sync.aligned",
                  {80, 90, 0},
                  "'wgmma.fence.sync.aligned' needs sm_90a, but the module's "
                  "target is sm_90"}));

TEST(GrammarTest, LongOpcodesEnd) {
  std::string opcode = "mma";
  for (int i = 0; i < 10000; ++i) opcode += ".f16";
  EXPECT_EQ(Resolve(opcode),
            "'mma' has 10000 modifiers, more than any instruction");
  EXPECT_NE(Resolve("atom.relaxed.relaxed.relaxed.relaxed.gpu.gpu.gpu.global"
                    ".global.global.add.add.add.u32.u32.u32"),
            "");
}

TEST(GrammarTest, OptionalOperandsMakeSignatures) {
  std::vector<Candidate> candidates;
  ASSERT_TRUE(ResolveOpcode("bar.sync", kNewest, &candidates).ok());
  std::set<size_t> counts;
  for (const Candidate& c : candidates) counts.insert(c.operands.size());
  EXPECT_EQ(counts, (std::set<size_t>{1, 2}));
}

}  // namespace
}  // namespace hetgpu::ptx
