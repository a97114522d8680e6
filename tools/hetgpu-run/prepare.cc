#include "tools/hetgpu-run/prepare.h"

#include <algorithm>

namespace hetgpu::tools {
namespace {

void Collect(const Steps& steps, Session* session,
             std::vector<hetgpuFunction>& functions) {
  for (const Step& step : steps) {
    if (const auto* repeat = std::get_if<RepeatStep>(&step.action)) {
      Collect(repeat->steps, session, functions);
    } else if (const auto* loop = std::get_if<ForStep>(&step.action)) {
      Collect(loop->steps, session, functions);
    } else if (const auto* launch = std::get_if<LaunchStep>(&step.action)) {
      const auto kernel = session->FindKernel(launch->kernel);
      if (!kernel.ok()) continue;
      const hetgpuFunction function = (*kernel)->handle;
      if (std::find(functions.begin(), functions.end(), function) ==
          functions.end()) {
        functions.push_back(function);
      }
    }
  }
}

}  // namespace

Prepare::Prepare(const Steps& steps, Session* session) {
  Collect(steps, session, functions_);
  if (functions_.empty()) return;
  thread_ = std::thread([this] {
    for (hetgpuFunction function : functions_) {
      if (stop_) return;
      (void)hetgpuFunctionPrepare(function);
    }
  });
}

Prepare::~Prepare() {
  stop_ = true;
  if (thread_.joinable()) thread_.join();
}

}  // namespace hetgpu::tools
