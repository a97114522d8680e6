#include "tools/hetgpu-run/outputs.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "tools/common/exit_code.h"
#include "tools/common/literal.h"
#include "tools/common/npy.h"
#include "tools/common/status_macros.h"
#include "tools/common/text.h"

namespace hetgpu::tools {
namespace {

absl::StatusOr<DeviceArray> Locate(const Output& output, const Session& session,
                                   const Memory& memory) {
  if (!output.buffer.empty()) return memory.Find(output.buffer);
  ASSIGN_OR_RETURN(const Symbol symbol, session.FindSymbol(output.symbol));
  ASSIGN_OR_RETURN(const uint64_t bytes, ByteSize(*output.type, *output.count));
  if (bytes > symbol.size) {
    return absl::InvalidArgumentError(Cat("symbol '", output.symbol, "' has ",
                                          symbol.size, " bytes, but ", bytes,
                                          " are asked for"));
  }
  return DeviceArray{*output.type, *output.count, bytes, symbol.address};
}

absl::Status ValidateOutput(const Output& output, const Session& session,
                            const Memory& memory) {
  ASSIGN_OR_RETURN(const DeviceArray array, Locate(output, session, memory));
  if (!output.shape.empty()) {
    uint64_t product = 1;
    for (const uint64_t side : output.shape) {
      if (__builtin_mul_overflow(product, side, &product)) product = ~0ull;
    }
    if (product != array.count) {
      return absl::InvalidArgumentError(
          Cat("shape has ", product, " elements, but there are ", array.count));
    }
  }
  if (output.picture &&
      output.picture->width * output.picture->height > array.count) {
    return absl::InvalidArgumentError(
        Cat("a picture of ", output.picture->width, " times ",
            output.picture->height, " needs more than the ", array.count,
            " elements there are"));
  }
  return absl::OkStatus();
}

absl::StatusOr<HostBytes> ReadBack(const DeviceArray& array,
                                   const Session& session) {
  ASSIGN_OR_RETURN(HostBytes data, HostBytes::Uninitialized(array.bytes));
  RETURN_IF_ERROR(ToStatus(hetgpuMemCopyDtoH(session.context(), data.data(),
                                             array.address, array.bytes)));
  return data;
}

std::vector<std::string> FirstValues(const DeviceArray& array,
                                     const HostBytes& data, uint64_t count) {
  std::vector<std::string> values;
  const uint32_t size = SizeOf(array.type);
  for (uint64_t i = 0; i < std::min(count, array.count); ++i) {
    values.push_back(FormatElement(
        LoadElement(data.data() + i * size, array.type), array.type));
  }
  return values;
}

absl::Status WriteOutput(const Output& output, const DeviceArray& array,
                         const HostBytes& data) {
  if (!IsNpyPath(output.file)) return WriteFile(output.file, "", data.view());
  const std::vector<uint64_t> line = {array.count};
  return WriteNpy(output.file, array.type,
                  output.shape.empty() ? line : output.shape, data.view());
}

absl::StatusOr<CompareResult> RunCheck(const Check& check,
                                       const DeviceArray& array,
                                       const HostBytes& data) {
  BufferDef def{.name = "reference",
                .type = array.type,
                .count = array.count,
                .init = check.reference};
  ASSIGN_OR_RETURN(const HostArray reference, MakeReference(def));
  return Compare(array.type, array.count, data.data(), reference.data.data(),
                 check.tolerance);
}

absl::Status Collect(const Output& output, const Session& session,
                     const Memory& memory, OutputReport* report) {
  ASSIGN_OR_RETURN(const DeviceArray array, Locate(output, session, memory));
  ASSIGN_OR_RETURN(const HostBytes data, ReadBack(array, session));
  report->name = output.name;
  report->type = array.type;
  report->count = array.count;
  if (output.print) {
    report->values = FirstValues(array, data, *output.print);
  }
  if (output.picture) {
    report->picture =
        DrawPicture(*output.picture, array.type, array.count, data.data());
  }
  if (!output.file.empty()) {
    RETURN_IF_ERROR(WriteOutput(output, array, data));
    report->file = output.file;
  }
  if (output.check) {
    ASSIGN_OR_RETURN(report->check, RunCheck(*output.check, array, data));
  }
  return absl::OkStatus();
}

// The characters of a UTF-8 text.
std::vector<std::string> SplitCharacters(std::string_view text) {
  std::vector<std::string> characters;
  for (const char c : text) {
    const bool continues = (static_cast<uint8_t>(c) & 0xc0) == 0x80;
    if (continues && !characters.empty())
      characters.back().push_back(c);
    else
      characters.emplace_back(1, c);
  }
  return characters;
}

}  // namespace

absl::Status ValidateOutputs(const std::vector<Output>& outputs,
                             const Session& session, const Memory& memory) {
  for (const Output& output : outputs) {
    RETURN_IF_ERROR(Annotate(ValidateOutput(output, session, memory),
                             Cat("output '", output.name, "'")));
  }
  return absl::OkStatus();
}

absl::Status CollectOutputs(const std::vector<Output>& outputs,
                            const Session& session, const Memory& memory,
                            std::vector<OutputReport>* reports) {
  for (const Output& output : outputs) {
    reports->emplace_back();
    RETURN_IF_ERROR(Annotate(Collect(output, session, memory, &reports->back()),
                             Cat("output '", output.name, "'")));
  }
  return absl::OkStatus();
}

absl::Status CheckVerdict(const std::vector<OutputReport>& reports) {
  for (const OutputReport& report : reports) {
    if (report.check && !report.check->passed()) {
      return absl::FailedPreconditionError(Cat(
          "check of '", report.name, "' failed: ", Describe(*report.check)));
    }
  }
  return absl::OkStatus();
}

std::vector<std::string> DrawPicture(const Picture& picture, ElementType type,
                                     uint64_t count, const void* data) {
  const std::vector<std::string> ramp = SplitCharacters(picture.ramp);
  const double last = static_cast<double>(ramp.size()) - 1;
  const double scale =
      static_cast<double>(ramp.size()) / (picture.max - picture.min);
  const uint32_t size = SizeOf(type);
  const uint8_t* element = static_cast<const uint8_t*>(data);
  std::vector<std::string> rows(picture.height);
  for (std::string& row : rows) {
    for (uint64_t x = 0; x < picture.width; ++x, element += size) {
      const double value = ElementToDouble(LoadElement(element, type), type);
      const double step = std::floor((value - picture.min) * scale);
      // NaN takes the first character.
      const double index = step > 0 ? std::min(step, last) : 0.0;
      row += ramp[static_cast<size_t>(index)];
    }
  }
  return rows;
}

}  // namespace hetgpu::tools
