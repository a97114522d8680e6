// hetgpu-ptx-support: prints docs/ptx-support.md.
#include <cstdio>
#include <string_view>

#include "frontend/ptx/lowering/table.h"
#include "frontend/ptx/support_page.h"

namespace {

constexpr char kHelp[] =
    "Prints which PTX instructions and modifiers are parsed and run, as\n"
    "Markdown.\n"
    "Usage: hetgpu-ptx-support [--help]\n";
constexpr int kUsage = 2;

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && (std::string_view(argv[1]) == "--help" ||
                    std::string_view(argv[1]) == "-h")) {
    std::fputs(kHelp, stdout);
    return 0;
  }
  if (argc > 1) {
    std::fprintf(stderr,
                 "hetgpu-ptx-support: error: found \"%s\", expected no "
                 "argument; try --help\n",
                 argv[1]);
    return kUsage;
  }
  using hetgpu::ptx::FindRow;
  std::string page = hetgpu::ptx::SupportPage(
      [](hetgpu::ptx::Op op) { return FindRow(op) != nullptr; });
  std::fwrite(page.data(), 1, page.size(), stdout);
  return 0;
}
