#include "backends/llvm_ir/gpu/shift_addresses.h"

#include <string>

#include "hetir/dialect/HetIR.h"
#include "llvm/ADT/TypeSwitch.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"

namespace hetgpu::llvm_ir {
namespace {

using hetir::Space;
namespace arith = mlir::arith;

// Whether the address is known to be the GPU's own.
bool IsOwn(mlir::Value address) {
  while (mlir::Operation* op = address.getDefiningOp()) {
    if (auto cast = mlir::dyn_cast<hetir::ToGenericOp>(op)) {
      if (cast.getSpace() != Space::global) return true;
      address = cast.getAddress();
    } else if (auto cast = mlir::dyn_cast<hetir::FromGenericOp>(op)) {
      address = cast.getAddress();
    } else {
      return mlir::isa<hetir::DataAddressOp, hetir::LocalAllocOp,
                       hetir::SharedAddressOp>(op);
    }
  }
  return false;
}

class Shifter {
 public:
  explicit Shifter(const AddressWindow& window) : window_(window) {}

  void Rewrite(mlir::Operation* op) {
    llvm::TypeSwitch<mlir::Operation*>(op)
        .Case<hetir::LoadOp, hetir::StoreOp, hetir::AtomicOp,
              hetir::AtomicCasOp>(
            [&](auto access) { RewriteAccess(access); })
        .Case<hetir::PrefetchOp>([&](auto prefetch) {
          if (!IsShifted(prefetch.getSpace())) return;
          Replace(op, prefetch.getAddressMutable(), nullptr,
                  prefetch.getOffset());
        })
        .Case<hetir::VprintfOp>([&](auto print) {
          Replace(op, print.getFormatMutable(), nullptr, 0);
          Replace(op, print.getArgumentsMutable(), nullptr, 0);
        })
        .Case<hetir::AssertFailOp>([&](auto fail) {
          Replace(op, fail.getMessageMutable(), nullptr, 0);
          Replace(op, fail.getFileMutable(), nullptr, 0);
          Replace(op, fail.getFunctionMutable(), nullptr, 0);
        })
        .Case<hetir::VendorOp>([&](auto vendor) { RewriteVerbatim(vendor); });
  }

 private:
  static bool IsShifted(Space space) {
    return space == Space::generic || space == Space::global ||
           space == Space::constant;
  }

  template <typename Op>
  void RewriteAccess(Op op) {
    if (!IsShifted(op.getSpace())) return;
    mlir::Value index = op.getIndex();
    // An index may lead from a variable to anywhere, but for const variables,
    // which are found by name.
    if (IsOwn(op.getAddress()) &&
        (!index || op.getSpace() == Space::constant)) {
      return;
    }
    Shift(op, op.getAddressMutable(), index, op.getOffset());
  }

  void Replace(mlir::Operation* op, mlir::OpOperand& operand,
               mlir::Value index, int64_t offset) {
    if (!IsOwn(operand.get())) Shift(op, operand, index, offset);
  }

  void Shift(mlir::Operation* op, mlir::OpOperand& operand, mlir::Value index,
             int64_t offset) {
    // No address of 32 bits is in the window.
    if (!operand.get().getType().isInteger(64)) return;
    operand.assign(Shifted(op, operand.get(), index, offset));
  }

  // `address`, shifted when address + index + offset is in the window.
  mlir::Value Shifted(mlir::Operation* op, mlir::Value address,
                      mlir::Value index, int64_t offset) {
    mlir::OpBuilder builder(op);
    const mlir::Location loc = op->getLoc();
    const auto constant = [&](uint64_t value) -> mlir::Value {
      return builder.create<arith::ConstantOp>(
          loc, builder.getI64IntegerAttr(static_cast<int64_t>(value)));
    };
    mlir::Value accessed = address;
    if (index) {
      if (!index.getType().isInteger(64)) {
        index = builder.create<arith::ExtSIOp>(loc, address.getType(), index);
      }
      accessed = builder.create<arith::AddIOp>(loc, address, index);
    }
    const mlir::Value start =
        constant(window_.base - static_cast<uint64_t>(offset));
    const mlir::Value size = constant(window_.bytes);
    const mlir::Value delta = constant(window_.delta);
    const mlir::Value zero = constant(0);
    const mlir::Value place =
        builder.create<arith::SubIOp>(loc, accessed, start);
    const mlir::Value inside = builder.create<arith::CmpIOp>(
        loc, arith::CmpIPredicate::ult, place, size);
    const mlir::Value by =
        builder.create<arith::SelectOp>(loc, inside, delta, zero);
    return builder.create<arith::AddIOp>(loc, address, by);
  }

  // Whether what stands in brackets is a texture or surface.
  static bool TakesHandle(llvm::StringRef text) {
    for (const char* name :
         {"tex.", "tld4.", "txq.", "suld.", "sust.", "sured.", "suq."}) {
      if (text.starts_with(name)) return true;
    }
    return false;
  }

  // Each "[$n" or "[$n+offset" gets an operand of its own: the value may have
  // other uses in the text.
  void RewriteVerbatim(hetir::VendorOp op) {
    std::string text = op.getText().str();
    if (TakesHandle(text)) return;
    const size_t results = op.getOutputs().size();
    for (size_t at = text.find("[$"); at != std::string::npos;
         at = text.find("[$", at + 1)) {
      llvm::StringRef rest = llvm::StringRef(text).substr(at + 2);
      const size_t before = rest.size();
      uint64_t number = 0;
      if (rest.consumeInteger(10, number)) continue;
      const size_t digits = before - rest.size();
      int64_t offset = 0;
      llvm::StringRef behind = rest.ltrim();
      if (behind.consume_front("+")) behind = behind.ltrim();
      if (behind.consumeInteger(10, offset)) offset = 0;
      const auto inputs = op.getInputs();
      if (number < results || number - results >= inputs.size()) continue;
      const mlir::Value address = inputs[number - results];
      if (!address.getType().isInteger(64) || IsOwn(address)) continue;
      op.getInputsMutable().append(Shifted(op, address, nullptr, offset));
      text.replace(at + 2, digits,
                   std::to_string(results + op.getInputs().size() - 1));
    }
    op.setText(text);
  }

  const AddressWindow& window_;
};

}  // namespace

void ShiftAddresses(mlir::ModuleOp module, const AddressWindow& window) {
  if (window.delta == 0) return;
  Shifter shifter(window);
  llvm::SmallVector<mlir::Operation*> all;
  module.walk([&](mlir::Operation* op) { all.push_back(op); });
  for (mlir::Operation* op : all) shifter.Rewrite(op);
}

}  // namespace hetgpu::llvm_ir
