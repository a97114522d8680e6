// The image loader, with hand-made images.
#include "backends/cpu/image.h"

#include <random>

#include "backends/cpu/imports.h"
#include "backends/cpu/test_device.h"

namespace hetgpu::cpu {
namespace {

std::string Bytes(std::initializer_list<int> values) {
  std::string bytes;
  for (int value : values) bytes += static_cast<char>(value);
  return bytes;
}

struct ImageParts {
  ImageHeader header{};
  std::vector<ImportRecord> imports;
  std::vector<LineRecord> lines;
  std::string explanation;
  std::string code;
};

ImageParts Parts(std::string code) {
  ImageParts parts;
  std::memcpy(parts.header.magic, "HETCPU\0\1", 8);
  parts.header.abi_version = kAbiVersion;
  parts.header.lanes_per_unit = 1;
  parts.code = std::move(code);
  return parts;
}

template <typename Record>
void AppendRecords(const std::vector<Record>& records, std::string* image) {
  image->append(reinterpret_cast<const char*>(records.data()),
                records.size() * sizeof(Record));
}

std::string Build(ImageParts parts) {
  ImageHeader& header = parts.header;
  header.import_count = static_cast<uint32_t>(parts.imports.size());
  header.line_count = static_cast<uint32_t>(parts.lines.size());
  header.explanation_bytes = static_cast<uint32_t>(parts.explanation.size());
  header.code_bytes = parts.code.size();
  std::string body;
  AppendRecords(parts.imports, &body);
  AppendRecords(parts.lines, &body);
  body += parts.explanation;
  body.resize((body.size() + sizeof(header) + 63) / 64 * 64 - sizeof(header));
  header.code_offset = static_cast<uint32_t>(sizeof(header) + body.size());
  return std::string(reinterpret_cast<const char*>(&header), sizeof(header)) +
         body + parts.code;
}

#if defined(__x86_64__)
// mov rax, [rdi + 8]; mov rax, [rax]; mov dword [rax], 42; ret
ImageParts StoreImage() {
  ImageParts parts = Parts(Bytes({0x90, 0x48, 0x8b, 0x47, 0x08, 0x48, 0x8b,
                                  0x00, 0xc7, 0x00, 42, 0, 0, 0, 0xc3}));
  parts.header.entry_offset = 1;
  parts.lines = {{0, 10}, {8, 11}, {14, 12}};
  parts.explanation = "no barriers";
  return parts;
}

class ImageTest : public testing::Test {
 protected:
  LaunchError Run(const std::string& image, uint64_t argument) {
    KernelInfo info;
    info.name = "made";
    auto kernel = device_.device().Load(info, image);
    EXPECT_TRUE(kernel.ok()) << kernel.status();
    LaunchDesc desc;
    desc.kernel = kernel->get();
    desc.info = &info;
    desc.params.assign(reinterpret_cast<char*>(&argument), sizeof(argument));
    EXPECT_TRUE(device_.queue().Launch(desc).ok());
    explanation_ = (*kernel)->Explain();
    return device_.Finish();
  }
  TestDevice device_;
  std::string explanation_;
};

TEST_F(ImageTest, RunsAndExplains) {
  uint32_t word = 0;
  const LaunchError error =
      Run(Build(StoreImage()), reinterpret_cast<uint64_t>(&word));
  EXPECT_EQ(error.kind, LaunchError::Kind::kNone) << Describe(error);
  EXPECT_EQ(word, 42u);
  EXPECT_EQ(explanation_, "one loop over threads: no barriers");
}

TEST_F(ImageTest, FaultsNameTheLineOfTheTable) {
  const LaunchError error = Run(Build(StoreImage()), 0x20);
  EXPECT_EQ(Describe(error),
            "made: illegal address 0x20 at block (0,0,0) thread (0,0,0), PTX "
            "line 11");
}

// mov rdi, [rdi + 8]; mov rdi, [rdi]; mov esi, 7; mov edx, 5;
// jmp [rip + slot]
TEST_F(ImageTest, ImportSlotsAreFilled) {
  ImageParts parts =
      Parts(Bytes({0x48, 0x8b, 0x7f, 0x08, 0x48, 0x8b, 0x3f, 0xbe, 7, 0, 0,
                   0,    0xba, 5,    0,    0,    0,    0xff, 0x25, 1, 0, 0,
                   0,    0x90, 0,    0,    0,    0,    0,    0,    0, 0}));
  uint32_t memset_index = 0;
  while (ImportName(memset_index) != "memset") ++memset_index;
  parts.imports = {{memset_index, 0, 24}};
  uint8_t buffer[8] = {};
  const LaunchError error =
      Run(Build(parts), reinterpret_cast<uint64_t>(buffer));
  EXPECT_EQ(error.kind, LaunchError::Kind::kNone) << Describe(error);
  EXPECT_EQ(std::string(buffer, buffer + 8), Bytes({7, 7, 7, 7, 7, 0, 0, 0}));
}
#endif

absl::Status LoadStatus(const std::string& image) {
  return LoadedImage::Load("k", image).status();
}

TEST(ImageCheckTest, BadHeadersAreRefusedByName) {
  const auto refusal = [](void (*damage)(ImageHeader*)) {
    std::string image = Build(Parts(std::string(64, '\xc3')));
    ImageHeader header;
    std::memcpy(&header, image.data(), sizeof(header));
    damage(&header);
    std::memcpy(image.data(), &header, sizeof(header));
    const absl::Status status = LoadStatus(image);
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
    return std::string(status.message());
  };
  EXPECT_NE(refusal([](ImageHeader* h) {
              h->magic[0] = 'X';
            }).find("not a CPU kernel image"),
            std::string::npos);
  EXPECT_NE(refusal([](ImageHeader* h) {
              h->abi_version = 99;
            }).find("ABI version 99"),
            std::string::npos);
  EXPECT_NE(refusal([](ImageHeader* h) {
              h->lanes_per_unit = 2;
            }).find("units of 2 lanes"),
            std::string::npos);
  EXPECT_NE(
      refusal([](ImageHeader* h) { h->needs_fibers = 2; }).find("needs_fibers"),
      std::string::npos);
  EXPECT_NE(
      refusal([](ImageHeader* h) { h->stack_bytes = 1u << 31; }).find("stack"),
      std::string::npos);
  EXPECT_NE(refusal([](ImageHeader* h) {
              h->code_offset = 1u << 31;
            }).find("does not fit"),
            std::string::npos);
  EXPECT_NE(refusal([](ImageHeader* h) {
              h->code_bytes = UINT64_MAX;
            }).find("does not fit"),
            std::string::npos);
  EXPECT_NE(
      refusal([](ImageHeader* h) { h->code_offset = 8; }).find("overlaps"),
      std::string::npos);
  EXPECT_NE(refusal([](ImageHeader* h) { h->entry_offset = 64; }).find("entry"),
            std::string::npos);
  EXPECT_NE(refusal([](ImageHeader* h) { h->code_bytes = 0; }).find("entry"),
            std::string::npos);
  EXPECT_NE(refusal([](ImageHeader* h) {
              h->import_count = UINT32_MAX;
            }).find("imports"),
            std::string::npos);
  EXPECT_NE(
      refusal([](ImageHeader* h) { h->line_count = UINT32_MAX; }).find("lines"),
      std::string::npos);
  EXPECT_NE(
      refusal([](ImageHeader* h) { h->explanation_bytes = 4096; }).find("text"),
      std::string::npos);
}

TEST(ImageCheckTest, BadRecordsAreRefusedByName) {
  ImageParts parts = Parts(std::string(64, '\xc3'));
  parts.imports = {{ImportCount(), 0, 8}};
  EXPECT_NE(LoadStatus(Build(parts)).message().find("imports function"),
            std::string::npos);
  for (uint64_t slot :
       {uint64_t{60}, uint64_t{64}, UINT64_MAX - 7, uint64_t{4}}) {
    parts.imports = {{0, 0, slot}};
    EXPECT_NE(LoadStatus(Build(parts)).message().find("import slot"),
              std::string::npos)
        << slot;
  }
  parts.imports.clear();
  parts.lines = {{8, 1}, {4, 2}};
  EXPECT_NE(LoadStatus(Build(parts)).message().find("line record 1"),
            std::string::npos);
  parts.lines = {{65, 1}};
  EXPECT_NE(LoadStatus(Build(parts)).message().find("line record 0"),
            std::string::npos);
}

TEST(ImageCheckTest, DamagedImagesNeverCrashTheLoader) {
  ImageParts parts = Parts(std::string(256, '\xc3'));
  parts.imports = {{0, 0, 0}, {1, 0, 8}};
  parts.lines = {{0, 1}, {16, 2}, {200, 3}};
  parts.explanation = "because";
  const std::string good = Build(parts);
  ASSERT_TRUE(LoadStatus(good).ok()) << LoadStatus(good);
  for (size_t length = 0; length < good.size(); ++length) {
    EXPECT_FALSE(LoadStatus(good.substr(0, length)).ok()) << length;
  }
  std::mt19937 random(3);
  for (int round = 0; round < 5000; ++round) {
    std::string image = good;
    for (uint32_t i = 0; i < random() % 6 + 1; ++i) {
      image[random() % (good.size() - 256)] = static_cast<char>(random());
    }
    (void)LoadStatus(image);  // any answer will do
  }
}

}  // namespace
}  // namespace hetgpu::cpu
