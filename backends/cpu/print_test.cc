// printf, assertions and the heap as kernels use them.
#include <cstdio>

#include "backends/cpu/print_format.h"
#include "backends/cpu/test_device.h"

namespace hetgpu::cpu {
namespace {

using Kind = LaunchError::Kind;

// Builds an argument buffer as vprintf's callers do.
class Buffer {
 public:
  template <typename T>
  Buffer& Add(T value) {
    bytes_.resize((bytes_.size() + sizeof(T) - 1) / sizeof(T) * sizeof(T));
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof(T));
    return *this;
  }
  uint64_t address() const { return reinterpret_cast<uint64_t>(bytes_.data()); }

 private:
  std::string bytes_;
};

struct Printed {
  std::string text;
  int32_t result;
};

Printed Format(const char* format, const Buffer& arguments) {
  std::vector<char> storage(kMaxPrintBytes);
  BoundedText out(storage.data(), storage.size());
  const int32_t result = FormatPrintf(reinterpret_cast<uint64_t>(format),
                                      arguments.address(), &out);
  return {std::string(out.view()), result};
}

std::string Text(const char* format, const Buffer& arguments) {
  return Format(format, arguments).text;
}

TEST(FormatTest, IntegersOfAllWidths) {
  EXPECT_EQ(Text("%d %i %u %x %X %o %c!", Buffer()
                                              .Add(-5)
                                              .Add(7)
                                              .Add(4000000000u)
                                              .Add(255)
                                              .Add(255)
                                              .Add(8)
                                              .Add(int{'A'})),
            "-5 7 4000000000 ff FF 10 A!");
  EXPECT_EQ(Text("%ld %lld %lu %llx %hd", Buffer()
                                              .Add(int64_t{-1})
                                              .Add(int64_t{1} << 40)
                                              .Add(UINT64_MAX)
                                              .Add(uint64_t{0xabc} << 32)
                                              .Add(3)),
            "-1 1099511627776 18446744073709551615 abc00000000 3");
}

TEST(FormatTest, ArgumentsAreAlignedToTheirSize) {
  EXPECT_EQ(Text("%d %f %d %ld %d",
                 Buffer().Add(1).Add(2.5).Add(3).Add(int64_t{4}).Add(5)),
            "1 2.500000 3 4 5");
}

TEST(FormatTest, DoublesAsTheHostPrintsThem) {
  for (const char* format : {"%f", "%e", "%g", "%.3f", "%10.2e", "%-12g|",
                             "%+f", "% f", "%#g", "%010.3f", "%a", "%G"}) {
    for (double value : {0.0, -1.5, 3.14159265, 1e300, 1e-300}) {
      char expected[400];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
      std::snprintf(expected, sizeof(expected), format, value);
#pragma GCC diagnostic pop
      EXPECT_EQ(Text(format, Buffer().Add(value)), expected) << format;
    }
  }
}

TEST(FormatTest, WidthsPrecisionsAndFlags) {
  EXPECT_EQ(Text("[%5d][%-5d][%05d][%+d][% d][%#x]",
                 Buffer().Add(42).Add(42).Add(42).Add(42).Add(42).Add(42)),
            "[   42][42   ][00042][+42][ 42][0x2a]");
  EXPECT_EQ(
      Text("[%*d][%-*d][%.*f][%*d]",
           Buffer().Add(5).Add(1).Add(5).Add(2).Add(2).Add(1.239).Add(-4).Add(
               3)),
      "[    1][2    ][1.24][3   ]");
}

TEST(FormatTest, StringsAndPointers) {
  const char* word = "word";
  const char* none = nullptr;
  EXPECT_EQ(Text("%s|%6s|%-6s|%.2s|%s",
                 Buffer().Add(word).Add(word).Add(word).Add(word).Add(none)),
            "word|  word|word  |wo|(null)");
  EXPECT_EQ(Text("%p", Buffer().Add(uint64_t{0x1234})), "0x1234");
  EXPECT_EQ(Text("100%% of %d", Buffer().Add(3)), "100% of 3");
}

TEST(FormatTest, ReturnsTheNumberOfArguments) {
  EXPECT_EQ(Format("none", Buffer().Add(0)).result, 0);
  EXPECT_EQ(Format("%d %s", Buffer().Add(1).Add("x")).result, 2);
  std::vector<char> storage(100);
  BoundedText out(storage.data(), storage.size());
  EXPECT_EQ(FormatPrintf(0, 0, &out), -1);
}

TEST(FormatTest, UnknownConversionsStayAsTheyAre) {
  EXPECT_EQ(Text("%n %q %d", Buffer().Add(1)), "%n %q 1");
  EXPECT_EQ(Text("end %", Buffer()), "end %");
  EXPECT_EQ(Text("end %5l", Buffer()), "end %5l");
}

TEST(FormatTest, LongTextIsCutAndSaysSo) {
  const std::string big(3 * kMaxPrintBytes, 'x');
  for (const char* format : {"%s", "%s tail", "a%s"}) {
    const std::string text = Text(format, Buffer().Add(big.c_str()));
    EXPECT_LE(text.size(), kMaxPrintBytes);
    EXPECT_EQ(text.substr(text.size() - 6), "[cut]\n");
  }
  const std::string text = Text(big.c_str(), Buffer());
  EXPECT_LE(text.size(), kMaxPrintBytes);
  EXPECT_EQ(text.substr(text.size() - 6), "[cut]\n");
}

// ---- In kernels -------------------------------------------------------------

struct PrintParams {
  uint64_t format;
  uint32_t* results;
};

HETGPU_EMITTED void PrintEach(BlockContext* b, uint32_t first, uint32_t count) {
  const auto& params = ParamsOf<PrintParams>(b);
  for (uint32_t unit = first; unit < first + count; ++unit) {
    b->current_unit = unit;
    uint32_t arguments[2] = {b->ctaid[0], unit};
    params.results[unit] = b->helpers->vprintf(
        b, params.format, reinterpret_cast<uint64_t>(arguments));
  }
}

class PrintTest : public testing::TestWithParam<bool> {
 protected:
  TestDevice device_;
};

INSTANTIATE_TEST_SUITE_P(Fibers, PrintTest, testing::Bool());

TEST_P(PrintTest, MessagesArriveWholeAndByTheEndOfTheLaunch) {
  std::vector<uint32_t> results(64);
  const LaunchError error = device_.Run(
      device_.Code(PrintEach, GetParam()), {{200, 1, 1}, {64, 1, 1}},
      PrintParams{device_.Text("<%u,%u>\n"), results.data()});
  ASSERT_EQ(error.kind, Kind::kNone) << Describe(error);
  EXPECT_EQ(results, std::vector<uint32_t>(64, 2));
  std::vector<int> seen(200 * 64);
  const char* at = device_.printed().c_str();
  unsigned block, unit;
  int used;
  while (std::sscanf(at, "<%u,%u>\n%n", &block, &unit, &used) == 2) {
    ASSERT_TRUE(block < 200 && unit < 64);
    ++seen[block * 64 + unit];
    at += used;
  }
  EXPECT_EQ(*at, '\0');
  EXPECT_EQ(seen, std::vector<int>(200 * 64, 1));
}

struct AssertParams {
  uint64_t message, file, function, char_size;
};

HETGPU_EMITTED void Assert(BlockContext* b, uint32_t first, uint32_t count) {
  const auto& params = ParamsOf<AssertParams>(b);
  for (uint32_t unit = first; unit < first + count; ++unit) {
    b->current_unit = unit;
    if (b->ctaid[1] == 2 && unit == 11) {
      b->helpers->assert_fail(b, params.message, params.file, 33,
                              params.function, params.char_size, 0, 77);
    }
  }
}

TEST_P(PrintTest, AssertionsPrintTheFamiliarLine) {
  const LaunchError error =
      device_.Run(device_.Code(Assert, GetParam()), {{1, 3, 1}, {4, 4, 1}},
                  AssertParams{device_.Text("x < n"), device_.Text("a.cu"),
                               device_.Text("void k(int)"), 1});
  EXPECT_EQ(error.kind, Kind::kAssert);
  EXPECT_EQ(error.line, 77u);
  EXPECT_EQ(error.block.y, 2u);
  EXPECT_EQ(error.thread.x, 3u);
  EXPECT_EQ(error.thread.y, 2u);
  EXPECT_EQ(device_.printed(),
            "a.cu:33: void k(int): block: [0,2,0], thread: [3,2,0] Assertion "
            "`x < n` failed.\n");
}

struct HeapParams {
  uint64_t* out;
  uint32_t mode;
};

HETGPU_EMITTED void UseHeap(BlockContext* b, uint32_t first, uint32_t count) {
  const auto& params = ParamsOf<HeapParams>(b);
  for (uint32_t unit = first; unit < first + count; ++unit) {
    b->current_unit = unit;
    auto* memory =
        reinterpret_cast<uint64_t*>(b->helpers->device_malloc(b, 64));
    memory[7] = unit;
    params.out[unit] = memory[7];
    b->helpers->device_free(b, reinterpret_cast<uint64_t>(memory));
    b->helpers->device_free(b, 0);
    if (params.mode == 1 && unit == 3) {
      b->helpers->device_free(b, reinterpret_cast<uint64_t>(memory));
      b->current_unit = 0;  // no tail call
    }
  }
}

TEST_P(PrintTest, KernelsHaveAHeap) {
  std::vector<uint64_t> out(100);
  EXPECT_EQ(device_
                .Run(device_.Code(UseHeap, GetParam()),
                     {{50, 1, 1}, {100, 1, 1}}, HeapParams{out.data(), 0})
                .kind,
            Kind::kNone);
  for (uint32_t i = 0; i < 100; ++i) EXPECT_EQ(out[i], i);
  const LaunchError error =
      device_.Run(device_.Code(UseHeap, GetParam()), {{1, 1, 1}, {100, 1, 1}},
                  HeapParams{out.data(), 1});
  EXPECT_EQ(error.kind, Kind::kIllegalAddress);
  EXPECT_EQ(error.thread.x, 3u);
  EXPECT_NE(error.detail.find("free"), std::string::npos);
}

HETGPU_EMITTED void Clocks(BlockContext* b, uint32_t, uint32_t) {
  uint64_t* out = ParamsOf<HeapParams>(b).out;
  const uint64_t clock = b->helpers->clock64(b);
  const uint64_t timer = b->helpers->globaltimer(b);
  b->helpers->nanosleep(b, 200000);
  out[0] = b->helpers->clock64(b) - clock;
  out[1] = b->helpers->globaltimer(b) - timer;
}

TEST_P(PrintTest, ClocksRunAndSleepLasts) {
  uint64_t out[2];
  EXPECT_EQ(device_
                .Run(device_.Code(Clocks, GetParam()), {{1, 1, 1}, {1, 1, 1}},
                     HeapParams{out, 0})
                .kind,
            Kind::kNone);
  EXPECT_GT(out[0], 0u);
  EXPECT_GE(out[1], 190000u);
}

}  // namespace
}  // namespace hetgpu::cpu
