#include "backends/cpu/compile/op_test.h"

#include <map>
#include <sstream>

namespace hetgpu::cpu {
namespace {

TestCompiler& Compiler() {
  static TestCompiler* const compiler = new TestCompiler;
  return *compiler;
}

unsigned BytesOf(const std::string& type) {
  if (type == "f32") return 4;
  if (type == "f64") return 8;
  if (type == "f16" || type == "bf16") return 2;
  if (type == "i1") return 1;
  return std::stoul(type.substr(1)) / 8;
}

// Loads, the op, the store. i1 results are stored as i8.
std::string KernelText(const OpCase& op) {
  std::ostringstream out;
  out << "hetir.kernel @k attributes {param_bytes = 40 : i64} {\n"
         "  %zero = arith.constant 0 : i64\n"
         "  %n = hetir.load param %zero {offset = 32 : i64} : (i64) -> i32\n"
         "  %tid = hetir.special_register tid_x : i32\n"
         "  %cta = hetir.special_register ctaid_x : i32\n"
         "  %size = hetir.special_register ntid_x : i32\n"
         "  %first = arith.muli %cta, %size : i32\n"
         "  %i32 = arith.addi %first, %tid : i32\n"
         "  %i = arith.extui %i32 : i32 to i64\n"
         "  %inside = arith.cmpi ult, %i32, %n : i32\n"
         "  cf.cond_br %inside, ^run, ^done\n"
         "^run:\n";
  const char* names[] = {"a", "b", "c"};
  for (size_t k = 0; k < op.inputs.size(); ++k) {
    out << "  %p" << k << " = hetir.load param %zero {offset = " << 8 * k
        << " : i64} : (i64) -> i64\n"
        << "  %s" << k << " = arith.constant " << BytesOf(op.inputs[k])
        << " : i64\n"
        << "  %o" << k << " = arith.muli %i, %s" << k << " : i64\n"
        << "  %q" << k << " = arith.addi %p" << k << ", %o" << k
        << " : i64\n";
    bool is_bool = op.inputs[k] == "i1";
    out << "  %" << names[k] << (is_bool ? "8" : "")
        << " = hetir.load global %q" << k << " : (i64) -> "
        << (is_bool ? "i8" : op.inputs[k]) << "\n";
    if (is_bool) {
      out << "  %" << names[k] << " = arith.trunci %" << names[k]
          << "8 : i8 to i1\n";
    }
  }
  out << op.text << "\n";
  std::string type = op.output;
  std::string result = "%r";
  if (type == "i1") {
    out << "  %r8 = arith.extui %r : i1 to i8\n";
    type = "i8";
    result = "%r8";
  }
  out << "  %pr = hetir.load param %zero {offset = 24 : i64} : (i64) -> i64\n"
      << "  %sr = arith.constant " << BytesOf(op.output) << " : i64\n"
      << "  %or = arith.muli %i, %sr : i64\n"
      << "  %qr = arith.addi %pr, %or : i64\n"
      << "  hetir.store global %qr, (" << result << ") : i64, " << type << "\n"
      << "  cf.br ^done\n^done:\n  hetir.exit\n}\n";
  return out.str();
}

std::vector<std::vector<Bits>> AllTuples(const OpCase& op) {
  std::vector<std::vector<Bits>> tuples = {{}};
  for (const std::string& type : op.inputs) {
    std::vector<std::vector<Bits>> longer;
    for (const std::vector<Bits>& tuple : tuples) {
      for (Bits value : EdgeValues(type)) {
        longer.push_back(tuple);
        longer.back().push_back(value);
      }
    }
    tuples = std::move(longer);
  }
  return tuples;
}

std::string Show(const std::vector<Bits>& values) {
  std::ostringstream out;
  for (Bits value : values) out << " 0x" << std::hex << value;
  return out.str();
}

void RunMode(const OpCase& op, const std::string& mode,
             const std::vector<std::vector<Bits>>& tuples) {
  CompileOptions options;
  options.mode = mode;
  options.strict = op.strict;
  absl::StatusOr<std::string> image =
      Compiler().Compile(KernelText(op), options);
  ASSERT_TRUE(image.ok()) << op.text << "\n" << image.status();
  size_t count = tuples.size();
  std::vector<std::unique_ptr<TestBuffer>> buffers;
  TestLaunch launch;
  launch.params.assign(5, 0);
  for (size_t k = 0; k < op.inputs.size(); ++k) {
    unsigned bytes = BytesOf(op.inputs[k]);
    buffers.push_back(
        std::make_unique<TestBuffer>(Compiler().device(), bytes * count));
    for (size_t i = 0; i < count; ++i) {
      std::memcpy(buffers[k]->as<uint8_t>() + i * bytes, &tuples[i][k],
                  bytes);
    }
    launch.params[k] = buffers[k]->address();
  }
  unsigned bytes = BytesOf(op.output);
  TestBuffer results(Compiler().device(), bytes * count);
  launch.params[3] = results.address();
  launch.params[4] = count;
  launch.block = {100, 1, 1};
  launch.grid = {static_cast<uint32_t>((count + 99) / 100), 1, 1};
  LaunchError error;
  absl::Status status = Compiler().Run(*image, launch, &error);
  ASSERT_TRUE(status.ok()) << status;
  ASSERT_EQ(error.kind, LaunchError::Kind::kNone) << Describe(error);
  unsigned shown = 0;
  for (size_t i = 0; i < count && shown < 5; ++i) {
    Bits result = 0;
    std::memcpy(&result, results.as<uint8_t>() + i * bytes, bytes);
    Bits expected = op.expected(tuples[i]);
    if (bytes < 8) expected &= (Bits{1} << (8 * bytes)) - 1;
    if (op.equal ? op.equal(result, expected) : result == expected) continue;
    ++shown;
    ADD_FAILURE() << op.text << "\nin mode " << mode << " of"
                  << Show(tuples[i]) << ": got" << Show({result})
                  << ", expected" << Show({expected});
  }
}

}  // namespace

std::vector<Bits> EdgeValues(const std::string& type) {
  static const std::map<std::string, std::vector<Bits>> kValues = {
      {"i1", {0, 1}},
      {"i8", {0, 1, 0x7f, 0x80, 0xff, 0x5a}},
      {"i16", {0, 1, 2, 0x7fff, 0x8000, 0xffff, 0x1234, 0xfffe, 0x100}},
      {"i32",
       {0, 1, 2, 3, 7, 31, 32, 33, 0x7fffffff, 0x80000000, 0xffffffff,
        0x12345678, 0xdeadbeef, 0xfffffffe, 0x10000, 0x80000001, 0xff}},
      {"i64",
       {0, 1, 2, 0x7fffffffffffffff, 0x8000000000000000, 0xffffffffffffffff,
        0x123456789abcdef0, 0x100000000, 0xffffffff, 0x80000000, 63, 64,
        0xfedcba9876543210, 0x20000000000001, 0x8000000000000400}},
      {"f16",
       {0, 0x8000, 1, 0x8001, 0x3ff, 0x400, 0x3c00, 0xbc00, 0x3555, 0x4248,
        0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7e00, 0x3c01, 0x6400, 0x1400}},
      {"bf16",
       {0, 0x8000, 1, 0x8001, 0x7f, 0x80, 0x3f80, 0xbf80, 0x3eab, 0x4049,
        0x7f7f, 0xff7f, 0x7f80, 0xff80, 0x7fc0, 0x3f81, 0x4b00}},
      {"f32",
       {0, 0x80000000, 1, 0x80000001, 0x7fffff, 0x800000, 0x3f800000,
        0xbf800000, 0x3eaaaaab, 0x40490fdb, 0x7f7fffff, 0xff7fffff,
        0x7f800000, 0xff800000, 0x7fc00000, 0x3f800001, 0x4b800001,
        0x33800000, 0x5f000000, 0x4f000000, 0xcf000001, 0xc0200000}},
      {"f64",
       {0, 0x8000000000000000, 1, 0x8000000000000001, 0xfffffffffffff,
        0x10000000000000, 0x3ff0000000000000, 0xbff0000000000000,
        0x3fd5555555555555, 0x400921fb54442d18, 0x7fefffffffffffff,
        0xffefffffffffffff, 0x7ff0000000000000, 0xfff0000000000000,
        0x7ff8000000000000, 0x3ff0000000000001, 0x3810000000000000,
        0x36a0000000000000, 0x3690000000000000, 0x47efffffe0000000,
        0x47effffff0000000, 0x43e0000000000000, 0xc1e0000000200000}},
  };
  return kValues.at(type);
}

void CheckOp(const OpCase& op, std::vector<std::vector<Bits>> tuples) {
  if (tuples.empty()) tuples = AllTuples(op);
  std::istringstream modes(op.modes);
  for (std::string mode; std::getline(modes, mode, ',');) {
    RunMode(op, mode, tuples);
  }
}

}  // namespace hetgpu::cpu
