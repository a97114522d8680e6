// Replays every run-file through the C API on one device and compares what
// comes out with the bits a real GPU gave. HETGPU_TEST_DEVICE names the
// device; "cpu" by default. With HETGPU_ISA_RECOMPILE=sm_90 each kernel goes
// through the CUDA target first, and the PTX that comes out of it is replayed;
// HETGPU_ISA_IMAGES names a folder to write it to.

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "hetgpu/hetgpu.h"
#include "tests/isa/compare.h"
#include "tests/isa/exclusions.h"
#include "tests/isa/recompile.h"
#include "tests/isa/run_file.h"

namespace hetgpu::isa {
namespace {

constexpr uint64_t kLaunchTimeoutMs = 20000;
constexpr int kShownMismatches = 4;

std::string Folder() { return std::string(HETGPU_SOURCE_DIR) + "/tests/isa"; }

std::string ReadText(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<std::string> RunFilePaths() {
  std::vector<std::string> paths;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(Folder() + "/forms")) {
    if (entry.path().extension() == ".isa") {
      paths.push_back(entry.path().string());
    }
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

std::string TestName(const ::testing::TestParamInfo<std::string>& info) {
  std::string name = std::filesystem::path(info.param).stem().string();
  for (char& c : name) {
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  }
  return name;
}

// The context of the whole process; a failed launch leaves it usable.
hetgpuContext SharedContext() {
  static hetgpuContext context = [] {
    const char* name = std::getenv("HETGPU_TEST_DEVICE");
    hetgpuDevice device = nullptr;
    hetgpuContext created = nullptr;
    if (hetgpuDeviceGetByName(name ? name : "cpu", &device) ==
        HETGPU_SUCCESS) {
      hetgpuContextCreate(device, 0, &created);
    }
    if (created) {
      hetgpuContextSetLimit(created, HETGPU_LIMIT_LAUNCH_TIMEOUT_MS,
                            kLaunchTimeoutMs);
    }
    return created;
  }();
  return context;
}

const InputSets& SharedInputs() {
  static const InputSets sets = [] {
    std::string path = Folder() + "/inputs.txt";
    absl::StatusOr<InputSets> parsed = ParseInputSets(ReadText(path), path);
    EXPECT_TRUE(parsed.ok()) << parsed.status();
    return parsed.ok() ? *std::move(parsed) : InputSets();
  }();
  return sets;
}

std::string SharedBackend() {
  hetgpuDevice device = nullptr;
  hetgpuContextGetDevice(SharedContext(), &device);
  hetgpuDeviceProperties properties = {};
  properties.struct_size = sizeof(properties);
  hetgpuDeviceGetProperties(device, &properties);
  const std::string name = properties.backend ? properties.backend : "";
  // A backend's routes take different forms.
  const char* route = std::getenv("HETGPU_CUDA_ROUTE");
  const bool other = name == "cuda" && route != nullptr &&
                     std::string(route) == "recompiled";
  return other ? "cuda-recompiled" : name;
}

const Exclusion* ExclusionOf(const std::string& path) {
  static const std::vector<Exclusion> exclusions = [] {
    std::string file = Folder() + "/exclusions.txt";
    auto parsed = ParseExclusions(ReadText(file), file);
    EXPECT_TRUE(parsed.ok()) << parsed.status();
    return parsed.ok() ? *std::move(parsed) : std::vector<Exclusion>();
  }();
  return FindExclusion(exclusions, SharedBackend(),
                       std::filesystem::path(path).stem().string());
}

// A buffer of the device for one parameter, freed with the object.
struct Buffer {
  Buffer() = default;
  Buffer(const Buffer&) = delete;
  ~Buffer() {
    if (address) hetgpuMemFree(SharedContext(), address);
  }

  hetgpuDevicePtr address = 0;
  std::vector<uint8_t> before;
};

class IsaReplay : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    ASSERT_NE(SharedContext(), nullptr) << hetgpuGetLastErrorDetail();
    absl::StatusOr<RunFile> parsed =
        ParseRunFile(ReadText(GetParam()), GetParam());
    ASSERT_TRUE(parsed.ok()) << parsed.status();
    run_ = *std::move(parsed);
    ASSERT_FALSE(run_.expect.empty()) << "no recorded bits: run record.py";
  }

  void TearDown() override {
    buffers_.clear();
    recompiled_.reset();
    if (module_) hetgpuModuleUnload(module_);
  }

  void Check(hetgpuResult result, const char* what) {
    ASSERT_EQ(result, HETGPU_SUCCESS)
        << what << ": " << hetgpuResultName(result) << ": "
        << hetgpuGetLastErrorDetail();
  }

  void Load() {
    std::string name = std::filesystem::path(GetParam()).filename().string();
    ASSERT_NO_FATAL_FAILURE(
        Check(hetgpuModuleLoadData(SharedContext(), run_.ptx.data(),
                                   run_.ptx.size(), name.c_str(), &module_),
              "load"));
    ASSERT_NO_FATAL_FAILURE(Check(
        hetgpuModuleGetFunction(module_, "isa", &function_), "find kernel"));
    const char* target = std::getenv("HETGPU_ISA_RECOMPILE");
    if (target != nullptr) return LoadRecompiled(name, target);
    ASSERT_NO_FATAL_FAILURE(Check(hetgpuFunctionPrepare(function_),
                                  "compile"));
  }

  void LoadRecompiled(const std::string& name, const char* target) {
    const absl::StatusOr<std::string> image =
        CudaImage(run_.ptx, name, "isa", target);
    ASSERT_TRUE(image.ok()) << image.status();
    if (const char* folder = std::getenv("HETGPU_ISA_IMAGES")) {
      std::ofstream(absl::StrCat(folder, "/", name, ".ptx")) << *image;
    }
    recompiled_ =
        std::make_unique<Recompiled>(SharedContext(), module_, function_);
    Check(recompiled_->Load(*image), "load what was recompiled");
  }

  // An excluded form must be refused by name, before it runs.
  void ExpectRefusal(const Exclusion& exclusion) {
    hetgpuResult result = hetgpuModuleLoadData(
        SharedContext(), run_.ptx.data(), run_.ptx.size(), "isa", &module_);
    if (result == HETGPU_SUCCESS) {
      result = hetgpuModuleGetFunction(module_, "isa", &function_);
    }
    if (result == HETGPU_SUCCESS) result = hetgpuFunctionPrepare(function_);
    EXPECT_NE(result, HETGPU_SUCCESS)
        << "runs now, but exclusions.txt says: " << exclusion.reason;
    EXPECT_STRNE(hetgpuGetLastErrorDetail(), "") << "refused without a reason";
  }

  void FillBuffers() {
    buffers_ = std::vector<Buffer>(run_.params.size());
    for (size_t i = 0; i < run_.params.size(); ++i) {
      if (!run_.params[i].IsBuffer()) continue;
      absl::StatusOr<std::vector<uint8_t>> bytes =
          InitialBytes(run_.params[i], SharedInputs());
      ASSERT_TRUE(bytes.ok()) << bytes.status();
      Buffer& buffer = buffers_[i];
      buffer.before = *std::move(bytes);
      ASSERT_NO_FATAL_FAILURE(
          Check(hetgpuMemAlloc(SharedContext(), buffer.before.size(),
                               &buffer.address),
                "allocate"));
      ASSERT_NO_FATAL_FAILURE(
          Check(hetgpuMemCopyHtoD(SharedContext(), buffer.address,
                                  buffer.before.data(),
                                  buffer.before.size()),
                "copy in"));
    }
  }

  void Launch() {
    std::vector<void*> args;
    for (size_t i = 0; i < run_.params.size(); ++i) {
      args.push_back(run_.params[i].IsBuffer()
                         ? static_cast<void*>(&buffers_[i].address)
                         : run_.params[i].value.data());
    }
    const hetgpuDim3 grid = {run_.grid[0], run_.grid[1], run_.grid[2]};
    const hetgpuDim3 block = {run_.block[0], run_.block[1], run_.block[2]};
    ASSERT_NO_FATAL_FAILURE(Check(
        recompiled_
            ? recompiled_->Launch(grid, block, run_.shared_bytes, args)
            : hetgpuLaunchKernel(function_, grid, block, run_.shared_bytes,
                                 nullptr, args.data()),
        "launch"));
    ASSERT_NO_FATAL_FAILURE(
        Check(hetgpuContextSynchronize(SharedContext()), "run"));
  }

  void CompareOutput(size_t index) {
    const Param& param = run_.params[index];
    std::vector<uint8_t> bytes(buffers_[index].before.size());
    ASSERT_NO_FATAL_FAILURE(
        Check(hetgpuMemCopyDtoH(SharedContext(), bytes.data(),
                                buffers_[index].address, bytes.size()),
              "copy out"));
    Values got = ValuesOf(bytes, param.type);
    const Values& expected = run_.expect.at(param.name);
    size_t wrong = 0;
    for (size_t i = 0; i < got.size(); ++i) {
      if (Matches(param.type, param.compare, expected[i], got[i])) continue;
      if (++wrong > kShownMismatches) continue;
      ADD_FAILURE() << param.name << "[" << i << "]" << InputsOfRow(i)
                    << ": expected " << Describe(param.type, expected[i])
                    << ", got " << Describe(param.type, got[i]);
    }
    if (wrong > kShownMismatches) {
      ADD_FAILURE() << param.name << ": " << wrong << " of " << got.size()
                    << " elements differ";
    }
  }

  // " (a = 0x1, b = 0x2)" for the buffers that have this row.
  std::string InputsOfRow(size_t row) const {
    std::string text;
    for (size_t i = 0; i < run_.params.size(); ++i) {
      const Param& param = run_.params[i];
      if (!param.IsBuffer() || param.role == Param::Role::kOut) continue;
      Values values = ValuesOf(buffers_[i].before, param.type);
      if (row >= values.size()) continue;
      absl::StrAppend(&text, text.empty() ? " (" : ", ", param.name, " = ",
                      Describe(param.type, values[row]));
    }
    return text.empty() ? text : text + ")";
  }

  RunFile run_;
  hetgpuModule module_ = nullptr;
  hetgpuFunction function_ = nullptr;
  std::unique_ptr<Recompiled> recompiled_;
  std::vector<Buffer> buffers_;
};

TEST_P(IsaReplay, GivesTheRecordedBits) {
  if (const Exclusion* exclusion = ExclusionOf(GetParam())) {
    return ExpectRefusal(*exclusion);
  }
  ASSERT_NO_FATAL_FAILURE(Load());
  ASSERT_NO_FATAL_FAILURE(FillBuffers());
  ASSERT_NO_FATAL_FAILURE(Launch());
  for (size_t i = 0; i < run_.params.size(); ++i) {
    if (run_.params[i].IsOutput()) CompareOutput(i);
  }
}

INSTANTIATE_TEST_SUITE_P(Forms, IsaReplay, ::testing::ValuesIn(RunFilePaths()),
                         TestName);

}  // namespace
}  // namespace hetgpu::isa
