#include "tools/hetgpu/command.h"

namespace hetgpu::tools {

const std::vector<Command>& Commands() {
  static const std::vector<Command> commands = {
      {"info", "devices present and absent, versions, JIT cache", RunInfo},
      {"profile", "where the time of a program went", RunProfile},
  };
  return commands;
}

}  // namespace hetgpu::tools
