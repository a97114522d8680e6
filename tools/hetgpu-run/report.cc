#include "tools/hetgpu-run/report.h"

#include <cstdio>
#include <nlohmann/json.hpp>

#include "tools/common/exit_code.h"
#include "tools/common/text.h"

namespace hetgpu::tools {
namespace {

using Json = nlohmann::ordered_json;

void PrintOutput(const OutputReport& output) {
  if (output.values) {
    std::string line =
        Cat(output.name, ": ", NameOf(output.type), "[", output.count, "] =");
    for (const std::string& value : *output.values) line += " " + value;
    if (output.values->size() < output.count) line += " …";
    std::puts(line.c_str());
  }
  for (const std::string& row : output.picture) std::puts(row.c_str());
  if (!output.file.empty()) {
    std::printf("%s: written to %s\n", output.name.c_str(),
                output.file.c_str());
  }
  if (output.check) {
    std::printf("%s: check %s: %s\n", output.name.c_str(),
                output.check->passed() ? "passed" : "FAILED",
                Describe(*output.check).c_str());
  }
}

void PrintTime(const TimeReport& time) {
  const double median = time.median();
  std::printf("time: median %.6g ms of %zu (min %.6g, max %.6g)", median,
              time.milliseconds.size(), time.milliseconds.front(),
              time.milliseconds.back());
  if (time.work.bytes > 0 && median > 0) {
    std::printf(", %.4g GB/s", time.work.bytes / median * 1e-6);
  }
  if (time.work.flops > 0 && median > 0) {
    std::printf(", %.4g GFLOP/s", time.work.flops / median * 1e-6);
  }
  std::puts("");
}

void PrintKernel(const KernelReport& kernel) {
  std::string line =
      Cat("kernel ", kernel.name, ": ", kernel.explanation, "\n  ",
          kernel.origin, ", ready in ", kernel.prepare_ms, " ms");
  if (kernel.compile_ms > 0) {
    line += Cat(", of them ", kernel.compile_ms, " in the compiler");
  }
  if (kernel.image_bytes > 0) {
    line += Cat(", image of ", kernel.image_bytes, " bytes");
  }
  line += "\n";
  std::fputs(line.c_str(), stderr);
}

Json ToJson(const Mismatch& mismatch) {
  return {{"index", mismatch.index},
          {"got", mismatch.got},
          {"expected", mismatch.expected}};
}

Json ToJson(const CompareResult& check) {
  Json json = {{"passed", check.passed()},
               {"compared", check.count},
               {"mismatches", check.mismatches},
               {"max_abs_error", check.max_abs_error},
               {"max_rel_error", check.max_rel_error}};
  if (check.first) json["first"] = ToJson(*check.first);
  if (check.worst) json["worst"] = ToJson(*check.worst);
  return json;
}

Json ToJson(const OutputReport& output) {
  Json json = {{"name", output.name},
               {"type", std::string(NameOf(output.type))},
               {"count", output.count}};
  // Text, because JSON has neither NaN nor 64-bit integers.
  if (output.values) json["values"] = *output.values;
  if (!output.picture.empty()) json["picture"] = output.picture;
  if (!output.file.empty()) json["file"] = output.file;
  if (output.check) json["check"] = ToJson(*output.check);
  return json;
}

Json ToJson(const TimeReport& time) {
  const double median = time.median();
  Json json = {{"median_ms", median}, {"runs_ms", time.milliseconds}};
  if (time.work.bytes > 0 && median > 0) {
    json["gb_per_s"] = time.work.bytes / median * 1e-6;
  }
  if (time.work.flops > 0 && median > 0) {
    json["gflop_per_s"] = time.work.flops / median * 1e-6;
  }
  return json;
}

Json ToJson(const KernelReport& kernel) {
  return {{"name", kernel.name},
          {"explanation", kernel.explanation},
          {"origin", kernel.origin},
          {"image_bytes", kernel.image_bytes},
          {"prepare_ms", kernel.prepare_ms},
          {"compile_ms", kernel.compile_ms}};
}

}  // namespace

double TimeReport::median() const {
  if (milliseconds.empty()) return 0;
  const size_t half = milliseconds.size() / 2;
  if (milliseconds.size() % 2 == 1) return milliseconds[half];
  return (milliseconds[half - 1] + milliseconds[half]) / 2;
}

void PrintText(const Report& report) {
  for (const KernelReport& kernel : report.kernels) PrintKernel(kernel);
  for (const OutputReport& output : report.outputs) PrintOutput(output);
  if (report.time) PrintTime(*report.time);
}

void PrintJson(const Report& report, const absl::Status& status) {
  Json json = {{"ok", status.ok()},
               {"exit_code", static_cast<int>(ExitCodeOf(status))}};
  if (!status.ok()) json["error"] = std::string(ToStd(status.message()));
  json["module"] = report.module;
  json["device"] = {{"name", report.device},
                    {"backend", report.backend},
                    {"target", report.target}};
  json["launches"] = report.launches;
  json["outputs"] = Json::array();
  for (const OutputReport& output : report.outputs) {
    json["outputs"].push_back(ToJson(output));
  }
  if (report.time) json["time"] = ToJson(*report.time);
  for (const KernelReport& kernel : report.kernels) {
    json["kernels"].push_back(ToJson(kernel));
  }
  // Names come from files and may be no UTF-8.
  std::puts(json.dump(2, ' ', false, Json::error_handler_t::replace).c_str());
}

}  // namespace hetgpu::tools
