// Options to a Job: the command line is a plan of one launch.
#include <utility>

#include "tools/common/exit_code.h"
#include "tools/common/status_macros.h"
#include "tools/common/text.h"
#include "tools/hetgpu-run/options.h"
#include "tools/hetgpu-run/plan.h"
#include "tools/hetgpu-run/spec.h"

namespace hetgpu::tools {
namespace {

constexpr uint64_t kDefaultPrint = 8;

Output Named(const std::string& name) {
  Output output;
  output.name = name;
  return output;
}

Output OfBuffer(const std::string& name) {
  Output output = Named(name);
  output.buffer = name;
  return output;
}

Output* FindOutput(Job& job, const std::string& name) {
  for (Output& output : job.outputs) {
    if (output.name == name) return &output;
  }
  return nullptr;
}

// The output of that name; made when there is none but a buffer of that name.
absl::StatusOr<Output*> NeedOutput(Job& job, const std::string& name) {
  if (Output* output = FindOutput(job, name)) return output;
  for (const BufferDef& symbol : job.symbols) {
    if (symbol.name != name || !symbol.type || !symbol.count) continue;
    Output output = Named(name);
    output.symbol = name;
    output.type = symbol.type;
    output.count = symbol.count;
    job.outputs.push_back(std::move(output));
    return &job.outputs.back();
  }
  if (job.FindBuffer(name) == nullptr) {
    return absl::InvalidArgumentError(
        Cat("no buffer or output is called '", name, "'"));
  }
  job.outputs.push_back(OfBuffer(name));
  return &job.outputs.back();
}

absl::Status AddBuffer(Job& job, std::string name, BufferSpec spec) {
  if (job.FindBuffer(name) != nullptr) {
    return absl::InvalidArgumentError(
        Cat("two buffers are called '", name, "'"));
  }
  spec.def.name = name;
  if (!spec.output.empty()) {
    Output output = OfBuffer(name);
    output.file = spec.output;
    job.outputs.push_back(std::move(output));
  }
  job.buffers.push_back(std::move(spec.def));
  return absl::OkStatus();
}

absl::Status AddBuffers(const Options& options, Job& job) {
  for (const std::string& text : options.buffers) {
    ASSIGN_OR_RETURN(Assignment option, ParseAssignment(text));
    ASSIGN_OR_RETURN(BufferSpec spec, ParseBufferSpec(option.value));
    RETURN_IF_ERROR(AddBuffer(job, option.name, std::move(spec)));
  }
  return absl::OkStatus();
}

absl::Status AddSymbols(const Options& options, Job& job) {
  for (const std::string& text : options.symbols) {
    ASSIGN_OR_RETURN(Assignment option, ParseAssignment(text));
    ASSIGN_OR_RETURN(BufferDef def, ParseSymbolSpec(option.value));
    def.name = option.name;
    job.symbols.push_back(std::move(def));
  }
  return absl::OkStatus();
}

// Names in `visible` are of buffers that a person would want to see.
absl::Status AddArguments(const Options& options, Job& job, LaunchStep& launch,
                          std::vector<std::string>& visible) {
  for (size_t i = 0; i < options.args.size(); ++i) {
    ASSIGN_OR_RETURN(ArgumentSpec spec, ParseArgumentSpec(options.args[i]));
    if (spec.value) {
      launch.args.push_back(*std::move(spec.value));
      continue;
    }
    const std::string name = spec.name.empty() ? Cat("arg", i) : spec.name;
    if (spec.buffer->direction != Direction::kIn &&
        spec.buffer->output.empty()) {
      visible.push_back(name);
    }
    RETURN_IF_ERROR(AddBuffer(job, name, *std::move(spec.buffer)));
    launch.args.push_back(Argument{Address{Address::Base::kBuffer, name, 0}});
  }
  return absl::OkStatus();
}

absl::StatusOr<Job> MakeLaunchJob(const Options& options,
                                  std::vector<std::string>& visible) {
  Job job;
  job.module = options.file;
  if (options.grid.empty() || options.block.empty()) {
    return absl::InvalidArgumentError("--kernel needs --grid and --block");
  }
  LaunchStep launch;
  launch.kernel = options.kernel;
  ASSIGN_OR_RETURN(launch.grid, ParseExtent(options.grid));
  ASSIGN_OR_RETURN(launch.block, ParseExtent(options.block));
  ASSIGN_OR_RETURN(const uint64_t shared, ParseCount(options.shared));
  if (shared > ~uint32_t{0}) {
    return absl::AbortedError(
        Cat("--shared: ", shared, " bytes are more than any device has"));
  }
  launch.shared = static_cast<uint32_t>(shared);
  launch.cooperative = options.cooperative;
  launch.flops = options.flops;
  launch.bytes = options.bytes;
  RETURN_IF_ERROR(AddBuffers(options, job));
  RETURN_IF_ERROR(AddSymbols(options, job));
  RETURN_IF_ERROR(AddArguments(options, job, launch, visible));
  job.steps.push_back(Step{"", std::move(launch)});
  return job;
}

absl::Status AddPrints(const Options& options, Job& job) {
  for (const std::string& text : options.prints) {
    const size_t colon = text.find(':');
    ASSIGN_OR_RETURN(Output * output, NeedOutput(job, text.substr(0, colon)));
    output->print = kDefaultPrint;
    if (colon == text.npos) continue;
    ASSIGN_OR_RETURN(output->print, ParseCount(text.substr(colon + 1)));
  }
  return absl::OkStatus();
}

absl::Status AddSaves(const Options& options, Job& job) {
  for (const std::string& text : options.saves) {
    ASSIGN_OR_RETURN(const Assignment option, ParseAssignment(text));
    if (option.value.empty()) {
      return absl::InvalidArgumentError(Cat("--save ", text, ": no file"));
    }
    ASSIGN_OR_RETURN(Output * output, NeedOutput(job, option.name));
    output->file = option.value;
  }
  return absl::OkStatus();
}

absl::Status AddChecks(const Options& options, Job& job) {
  for (const std::string& text : options.checks) {
    ASSIGN_OR_RETURN(const Assignment option, ParseAssignment(text));
    ASSIGN_OR_RETURN(Output * output, NeedOutput(job, option.name));
    ASSIGN_OR_RETURN(Init reference, ParseSource(option.value));
    output->check =
        Check{std::move(reference), {options.atol, options.rtol, options.bits}};
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Job> MakeJob(const Options& options) {
  Job job;
  std::vector<std::string> visible;
  if (options.plan.empty()) {
    ASSIGN_OR_RETURN(job, MakeLaunchJob(options, visible));
  } else {
    ASSIGN_OR_RETURN(job, ReadPlan(options.plan));
    if (!options.file.empty()) job.module = options.file;
  }
  RETURN_IF_ERROR(AddPrints(options, job));
  RETURN_IF_ERROR(AddSaves(options, job));
  RETURN_IF_ERROR(AddChecks(options, job));
  // Someone who asks for nothing wants to see something.
  if (options.plan.empty() && job.outputs.empty()) {
    for (const std::string& name : visible) {
      job.outputs.push_back(OfBuffer(name));
      job.outputs.back().print = kDefaultPrint;
    }
  }
  return job;
}

}  // namespace hetgpu::tools
