#include "frontend/ptx/support_page.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

namespace hetgpu::ptx {
namespace {

// The last column belongs to the lowering, which has tests of its own.
std::string WithoutLastColumn(const std::string& page) {
  std::string out, line;
  std::istringstream lines(page);
  while (std::getline(lines, line)) {
    if (line.starts_with('|')) {
      line = line.substr(0, line.rfind('|', line.size() - 2) + 1);
    }
    out += line + '\n';
  }
  return out;
}

TEST(SupportPageTest, DocumentIsUpToDate) {
  std::ifstream file(HETGPU_SOURCE_DIR "/docs/ptx-support.md");
  ASSERT_TRUE(file.is_open());
  std::string committed{std::istreambuf_iterator<char>(file), {}};
  EXPECT_EQ(WithoutLastColumn(committed),
            WithoutLastColumn(SupportPage(nullptr)))
      << "run hetgpu-ptx-support > docs/ptx-support.md";
}

TEST(SupportPageTest, MarksWhatIsLowered) {
  std::string page = SupportPage([](Op op) { return op == Op::kTrap; });
  EXPECT_NE(page.find("| `trap` |  | 1.0 | any | yes |"), std::string::npos);
  EXPECT_NE(page.find("| `exit` |  | 1.0 | any |  |"), std::string::npos);
}

}  // namespace
}  // namespace hetgpu::ptx
