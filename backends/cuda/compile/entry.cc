#include "backends/cuda/compile/entry.h"

#include "llvm/IR/Constants.h"
#include "llvm/IR/Module.h"

namespace hetgpu::cuda {
namespace {

void Annotate(llvm::Function* function, llvm::StringRef key, uint32_t value) {
  llvm::LLVMContext& context = function->getContext();
  llvm::NamedMDNode* annotations =
      function->getParent()->getOrInsertNamedMetadata("nvvm.annotations");
  auto* number =
      llvm::ConstantInt::get(llvm::Type::getInt32Ty(context), value);
  annotations->addOperand(llvm::MDNode::get(
      context, {llvm::ValueAsMetadata::get(function),
                llvm::MDString::get(context, key),
                llvm::ValueAsMetadata::get(number)}));
}

void AnnotateSizes(llvm::Function* function, llvm::StringRef key,
                   std::optional<llvm::ArrayRef<int32_t>> sizes) {
  if (!sizes) return;
  static constexpr const char* kAxes[] = {"x", "y", "z"};
  for (size_t i = 0; i < sizes->size() && i < 3; ++i) {
    Annotate(function, (key + kAxes[i]).str(), (*sizes)[i]);
  }
}

bool IsMark(std::string_view line) {
  return line.find("// begin inline asm") != std::string_view::npos ||
         line.find("// end inline asm") != std::string_view::npos;
}

}  // namespace

void MakeEntry(llvm::Function* function, hetir::KernelOp kernel) {
  function->setLinkage(llvm::GlobalValue::ExternalLinkage);
  function->setCallingConv(llvm::CallingConv::PTX_Kernel);
  AnnotateSizes(function, "maxntid", kernel.getMaxThreads());
  AnnotateSizes(function, "reqntid", kernel.getRequiredThreads());
  if (kernel.getMinBlocks() != 0) {
    Annotate(function, "minctasm", kernel.getMinBlocks());
  }
  if (kernel.getMaxRegisters() != 0) {
    Annotate(function, "maxnreg", kernel.getMaxRegisters());
  }
}

void NameOwnFunctions(llvm::Function* kernel) {
  for (llvm::Function& function : *kernel->getParent()) {
    if (&function == kernel || function.isDeclaration()) continue;
    function.setName(function.getName() + "_of_" + kernel->getName());
  }
}

std::string Tidy(std::string_view ptx) {
  std::string tidy;
  tidy.reserve(ptx.size());
  while (!ptx.empty()) {
    size_t length = std::min(ptx.find('\n'), ptx.size() - 1) + 1;
    std::string_view line = ptx.substr(0, length);
    if (!IsMark(line)) tidy += line;
    ptx.remove_prefix(length);
  }
  return tidy;
}

}  // namespace hetgpu::cuda
