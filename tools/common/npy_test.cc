#include "tools/common/npy.h"

#include <cstdio>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace hetgpu::tools {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string File(std::string_view dict, std::string_view data,
                 int version = 1) {
  std::string file("\x93NUMPY", 6);
  file += static_cast<char>(version);
  file += '\0';
  const size_t length = dict.size();
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i) {
    file += static_cast<char>(length >> (8 * i));
  }
  file += dict;
  file += data;
  return file;
}

constexpr char kTwoFloats[] =
    "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }\n";

TEST(Npy, ReadsAllVersions) {
  for (const int version : {1, 2, 3}) {
    const std::string file = File(kTwoFloats, "01234567", version);
    const auto header = ParseNpy(file);
    ASSERT_TRUE(header.ok()) << header.status();
    EXPECT_EQ(header->type, ElementType::kF32);
    EXPECT_THAT(header->shape, ElementsAre(2));
    EXPECT_EQ(file.substr(header->data_offset), "01234567");
  }
}

struct TypeCase {
  std::string_view descr;
  ElementType type;
};

TEST(Npy, ReadsAllTypes) {
  const TypeCase cases[] = {
      {"|b1", ElementType::kU8},  {"|u1", ElementType::kU8},
      {"|i1", ElementType::kI8},  {"<i2", ElementType::kI16},
      {"<u2", ElementType::kU16}, {"<i4", ElementType::kI32},
      {"<u4", ElementType::kU32}, {"<i8", ElementType::kI64},
      {"<u8", ElementType::kU64}, {"<f2", ElementType::kF16},
      {"=f4", ElementType::kF32}, {"<f8", ElementType::kF64}};
  for (const TypeCase& c : cases) {
    const std::string dict =
        "{\"shape\": (), \"fortran_order\": False, "
        "\"descr\": \"" +
        std::string(c.descr) + "\"}";
    const auto header = ParseNpy(File(dict, std::string(SizeOf(c.type), 'x')));
    ASSERT_TRUE(header.ok()) << c.descr << header.status();
    EXPECT_EQ(header->type, c.type) << c.descr;
    EXPECT_EQ(header->count, 1u);
  }
}

struct BadCase {
  std::string dict;
  std::string data;
  const char* message;
};

TEST(Npy, RefusesByName) {
  const auto dict = [](std::string descr, std::string order,
                       std::string shape) {
    return "{'descr': " + descr + ", 'fortran_order': " + order +
           ", 'shape': " + shape + "}";
  };
  const BadCase cases[] = {
      {dict("'<f4'", "True", "(2,)"), "01234567", "fortran_order is True"},
      {dict("'>f4'", "False", "(2,)"), "01234567", "big-endian"},
      {dict("'<c8'", "False", "(1,)"), "01234567", "'<c8' is not supported"},
      {dict("'|O'", "False", "(1,)"), "01234567", "'|O'"},
      {dict("[('a', '<f4')]", "False", "(1,)"), "0123", "structured"},
      {dict("'<f4'", "False", "(3,)"), "01234567", "8 bytes of data"},
      {dict("'<f4'", "False", "(1,)"), "01234567", "8 bytes of data"},
      {dict("'<f4'", "False", "(-1,)"), "0123", "not a count"},
      {dict("'<f4'", "False", "(4294967296, 4294967296, 4)"), "", "overflows"},
      {dict("'<f8'", "False", "(2305843009213693952, 4)"), "", "not of that"},
      {dict("'<f4'", "False", "(99999999999999999999,)"), "", "overflows"},
      {dict("'<f4'", "Maybe", "(1,)"), "0123", "neither True nor False"},
      {dict("'<f4'", "False", "1"), "0123", "not a tuple"},
      {"{'descr': '<f4', 'shape': (1,)}", "0123", "lacks"},
      {"{'descr': '<f4', 'descr': '<f4', 'fortran_order': False}", "",
       "bad 'descr'"},
      {"{'extra': 1}", "", "unknown header key 'extra'"},
      {"{'descr", "", "quoted key"},
      {"", "", "does not begin"},
  };
  for (const BadCase& c : cases) {
    const auto header = ParseNpy(File(c.dict, c.data));
    ASSERT_FALSE(header.ok()) << c.dict;
    EXPECT_THAT(std::string(header.status().message()), HasSubstr(c.message));
  }
  EXPECT_FALSE(ParseNpy(File(kTwoFloats, "01234567", 4)).ok());
  EXPECT_FALSE(ParseNpy("").ok());
}

TEST(Npy, EveryTruncationIsAnError) {
  const std::string file = File(kTwoFloats, "01234567");
  for (size_t size = 0; size < file.size(); ++size) {
    // A copy of exactly that size, so that a sanitizer sees any overrun.
    const std::string part(file, 0, size);
    EXPECT_FALSE(ParseNpy(part).ok()) << size;
  }
}

TEST(Npy, WritesWhatItReads) {
  const std::string path = testing::TempDir() + "hetgpu_npy_test.npy";
  const std::string data = "0123456789abcdefghijklmn";
  ASSERT_TRUE(WriteNpy(path, ElementType::kF32, {2, 3}, data).ok());
  const auto array = ReadNpy(path);
  ASSERT_TRUE(array.ok()) << array.status();
  EXPECT_THAT(array->header.shape, ElementsAre(2, 3));
  EXPECT_EQ(array->data.view(), data);
  EXPECT_EQ(array->header.data_offset % 64, 0u);
  std::remove(path.c_str());
}

TEST(Npy, FileErrorsNameTheFile) {
  const auto missing = ReadNpy("/does/not/exist.npy");
  EXPECT_EQ(missing.status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(missing.status().message()),
              HasSubstr("/does/not/exist.npy"));
  EXPECT_FALSE(ReadNpy(testing::TempDir()).ok());
  EXPECT_FALSE(WriteNpy("/does/not/exist.npy", ElementType::kU8, {0}, "").ok());
}

}  // namespace
}  // namespace hetgpu::tools
