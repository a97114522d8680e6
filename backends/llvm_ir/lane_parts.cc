#include "backends/llvm_ir/lane_parts.h"

#include "backends/llvm_ir/address_check.h"
#include "backends/llvm_ir/lane_strides.h"
#include "mlir/IR/Matchers.h"

namespace hetgpu::llvm_ir {
namespace {

namespace arith = mlir::arith;

constexpr int kMaxDepth = 8;

// An index that is a narrow one, extended and times a constant: the narrow one.
// The wide one then need not exist.
std::optional<std::pair<mlir::Value, int64_t>> NarrowIndex(mlir::Value index) {
  int64_t scale = 1;
  llvm::APInt factor;
  if (auto product = index.getDefiningOp<arith::MulIOp>()) {
    if (!mlir::matchPattern(product.getRhs(), mlir::m_ConstantInt(&factor))) {
      return std::nullopt;
    }
    scale = factor.getSExtValue();
    index = product.getLhs();
  }
  auto extended = index.getDefiningOp<arith::ExtSIOp>();
  if (!extended) return std::nullopt;
  return std::pair(extended.getIn(), scale);
}

// Takes summands that are one value for all lanes out of a vector of addresses
// and adds them up. What is left, the lanes' own part, is null when nothing is.
mlir::Value TakeUniform(Emitter& e, mlir::Value address, llvm::Value*& sum) {
  auto add = [&](mlir::Value uniform) {
    llvm::Value* value = e.Get(uniform);
    sum = sum ? e.ir().CreateAdd(sum, value) : value;
  };
  for (int i = 0; i < kMaxDepth; ++i) {
    if (mlir::Value uniform = UniformBase(address)) {
      add(uniform);
      return mlir::Value();
    }
    auto pair = address.getDefiningOp<arith::AddIOp>();
    if (!pair) return address;
    if (mlir::Value uniform = UniformBase(pair.getLhs())) {
      add(uniform);
      address = pair.getRhs();
    } else if (mlir::Value uniform = UniformBase(pair.getRhs())) {
      add(uniform);
      address = pair.getLhs();
    } else {
      return address;
    }
  }
  return address;
}

void SetIndex(Emitter& e, mlir::Value index, LaneParts& parts) {
  parts.index = e.Get(index);
  parts.source = index;
  if (parts.is_offset) return;
  if (auto narrow = NarrowIndex(index)) {
    parts.index = e.Get(narrow->first);
    parts.source = narrow->first;
    parts.scale = narrow->second;
  }
}

}  // namespace

LaneParts PartsOf(Emitter& e, const AccessRequest& request,
                  llvm::Value* base) {
  LaneParts parts;
  parts.is_offset = e.hooks().SpaceBase(e, request.space) != nullptr;
  parts.offset = request.offset;
  llvm::Value* uniform = base;
  mlir::Value own =
      base ? mlir::Value() : TakeUniform(e, request.address, uniform);
  if (request.index) {
    // One index only: an address that is lanes' own stays as it is.
    parts.address = own ? e.Get(request.address) : uniform;
    SetIndex(e, request.index, parts);
    return parts;
  }
  parts.address = uniform ? uniform : e.Get(own);
  if (uniform && own) SetIndex(e, own, parts);
  if (!uniform) parts.source = own;
  return parts;
}

llvm::Value* Spread(Ir& ir, llvm::Value* value) {
  return value->getType()->isVectorTy() ? value
                                        : ir.CreateVectorSplat(kLanes, value);
}

llvm::Value* SumOf(Ir& ir, const LaneParts& parts) {
  llvm::Value* address = parts.address;
  llvm::Type* type = address->getType();
  if (llvm::Value* index = parts.index) {
    index = parts.is_offset ? ir.CreateZExtOrTrunc(index, type)
                            : ir.CreateSExtOrTrunc(index, type);
    if (parts.scale != 1) {
      index = ir.CreateMul(index,
                           llvm::ConstantInt::getSigned(type, parts.scale));
    }
    address = ir.CreateAdd(address, index);
  }
  if (parts.offset == 0) return address;
  return ir.CreateAdd(address,
                      llvm::ConstantInt::getSigned(type, parts.offset));
}

llvm::Value* LaneSums(Emitter& e, LaneParts parts) {
  parts.address = Spread(e.ir(), parts.address);
  if (parts.index) parts.index = Spread(e.ir(), parts.index);
  return SumOf(e.ir(), parts);
}

}  // namespace hetgpu::llvm_ir
