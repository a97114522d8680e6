// hetgpu-ptx-support: prints docs/ptx-support.md.
#include <cstdio>

#include "frontend/ptx/lowering/table.h"
#include "frontend/ptx/support_page.h"

int main() {
  using hetgpu::ptx::FindRow;
  std::string page = hetgpu::ptx::SupportPage(
      [](hetgpu::ptx::Op op) { return FindRow(op) != nullptr; });
  std::fwrite(page.data(), 1, page.size(), stdout);
  return 0;
}
