#include "backends/llvm_ir/lane_strides.h"

#include <optional>

#include "hetir/dialect/HetIR.h"
#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/ADT/TypeSwitch.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/RegionGraphTraits.h"

namespace hetgpu::llvm_ir {
namespace {

namespace arith = mlir::arith;
using mlir::Value;

// Larger strides are not worth following, and extensions stay provable.
constexpr int64_t kMaxStride = 1 << 20;

// Not visited yet, a known stride, or none.
struct State {
  enum Kind { kUnknown, kStride, kNone } kind = kUnknown;
  int64_t stride = 0;

  bool operator==(const State& other) const = default;
};
constexpr State kNone{State::kNone, 0};

State Stride(int64_t stride) {
  if (stride > kMaxStride || stride < -kMaxStride) return kNone;
  return {State::kStride, stride};
}

std::optional<int64_t> SplatConstant(Value value) {
  llvm::APInt bits;
  if (!mlir::matchPattern(value, mlir::m_ConstantInt(&bits))) return {};
  return bits.getSExtValue();
}

class Finder {
 public:
  explicit Finder(mlir::Region& region) : region_(region) {}

  void Run() {
    bool changed = true;
    while (changed) {
      changed = false;
      for (mlir::Block* block :
           llvm::ReversePostOrderTraversal<mlir::Block*>(&region_.front())) {
        for (mlir::Operation& op : *block) changed |= Visit(op);
      }
    }
  }

  llvm::DenseMap<Value, int64_t> Strides() const {
    llvm::DenseMap<Value, int64_t> strides;
    for (const auto& [value, state] : states_) {
      if (state.kind == State::kStride) strides[value] = state.stride;
    }
    return strides;
  }

 private:
  State Get(Value value) const {
    if (!mlir::isa<mlir::VectorType>(value.getType())) return Stride(0);
    if (!HoldsLanes(value)) return kNone;
    return states_.lookup(value);
  }

  bool Join(Value value, State state) {
    if (state.kind == State::kUnknown) return false;
    State& old = states_[value];
    State joined = old.kind == State::kUnknown || old == state ? state : kNone;
    if (joined == old) return false;
    old = joined;
    return true;
  }

  bool Visit(mlir::Operation& op) {
    bool changed = false;
    for (Value result : op.getResults()) {
      if (HoldsLanes(result)) changed |= Join(result, Transfer(op));
    }
    auto branch = mlir::dyn_cast<mlir::BranchOpInterface>(op);
    if (!branch) return changed;
    for (unsigned i = 0; i < op.getNumSuccessors(); ++i) {
      mlir::SuccessorOperands operands = branch.getSuccessorOperands(i);
      for (mlir::BlockArgument argument : op.getSuccessor(i)->getArguments()) {
        if (!HoldsLanes(argument)) continue;
        changed |= Join(argument, Get(operands[argument.getArgNumber()]));
      }
    }
    return changed;
  }

  State Sum(Value a, Value b, int64_t sign) const {
    State x = Get(a), y = Get(b);
    if (x.kind == State::kStride && y.kind == State::kStride) {
      return Stride(x.stride + sign * y.stride);
    }
    return x.kind == State::kNone || y.kind == State::kNone ? kNone : State{};
  }

  State Product(Value a, Value b) const {
    State x = Get(a), y = Get(b);
    if (x.kind == State::kNone || y.kind == State::kNone) return kNone;
    if (x.kind == State::kUnknown || y.kind == State::kUnknown) return {};
    if (x.stride == 0 && y.stride == 0) return Stride(0);
    std::optional<int64_t> factor = SplatConstant(x.stride == 0 ? a : b);
    int64_t stride = x.stride == 0 ? y.stride : x.stride;
    if (!factor || *factor > kMaxStride || *factor < -kMaxStride) return kNone;
    return Stride(stride * *factor);
  }

  State Shift(hetir::ShlOp op) const {
    State a = Get(op.getA());
    std::optional<int64_t> amount = SplatConstant(op.getAmount());
    if (a.kind != State::kStride) return a;
    if (a.stride == 0) return AllZero(op);
    if (!amount || *amount < 0 || *amount > 20) return kNone;
    return Stride(a.stride << *amount);
  }

  // Lane by lane the same operands give the same result.
  State AllZero(mlir::Operation* op) const {
    for (Value operand : op->getOperands()) {
      State state = Get(operand);
      if (state.kind == State::kUnknown) return {};
      if (state.kind == State::kNone || state.stride != 0) return kNone;
    }
    return Stride(0);
  }

  static State Constant(arith::ConstantOp op) {
    auto elements = mlir::dyn_cast<mlir::DenseIntElementsAttr>(op.getValue());
    if (!elements) {
      auto floats = mlir::dyn_cast<mlir::DenseElementsAttr>(op.getValue());
      return floats && floats.isSplat() ? Stride(0) : kNone;
    }
    if (elements.isSplat()) return Stride(0);
    std::optional<llvm::APInt> last;
    std::optional<int64_t> stride;
    for (const llvm::APInt& element : elements.getValues<llvm::APInt>()) {
      if (last) {
        int64_t step = (element - *last).getSExtValue();
        if (stride && *stride != step) return kNone;
        stride = step;
      }
      last = element;
    }
    return Stride(*stride);
  }

  static State Register(hetir::SpecialRegisterOp op) {
    switch (op.getReg()) {
      case hetir::SpecialRegister::tid_x:
      case hetir::SpecialRegister::laneid: return Stride(1);
      case hetir::SpecialRegister::tid_y:
      case hetir::SpecialRegister::tid_z: return Stride(0);
      default: return kNone;
    }
  }

  State Transfer(mlir::Operation& op) const {
    return llvm::TypeSwitch<mlir::Operation*, State>(&op)
        .Case<arith::ConstantOp>([](auto o) { return Constant(o); })
        .Case<hetir::SpecialRegisterOp>([](auto o) { return Register(o); })
        .Case<mlir::vector::BroadcastOp>([](auto) { return Stride(0); })
        .Case<mlir::vector::StepOp>([](auto) { return Stride(1); })
        .Case<arith::AddIOp>(
            [&](auto o) { return Sum(o.getLhs(), o.getRhs(), 1); })
        .Case<arith::SubIOp>(
            [&](auto o) { return Sum(o.getLhs(), o.getRhs(), -1); })
        .Case<arith::MulIOp>(
            [&](auto o) { return Product(o.getLhs(), o.getRhs()); })
        .Case<hetir::ShlOp>([&](auto o) { return Shift(o); })
        .Case<arith::ExtUIOp, arith::ExtSIOp, arith::TruncIOp>(
            [&](auto o) { return Get(o.getIn()); })
        .Case<hetir::ToGenericOp, hetir::FromGenericOp>(
            [&](auto o) { return Get(o.getAddress()); })
        .Default([&](mlir::Operation* other) {
          bool lanewise = mlir::isPure(other) && other->getNumRegions() == 0 &&
                          other->getNumOperands() != 0 &&
                          (other->getName().getDialectNamespace() == "arith" ||
                           other->getName().getDialectNamespace() == "hetir");
          return lanewise ? AllZero(other) : kNone;
        });
  }

  mlir::Region& region_;
  llvm::DenseMap<Value, State> states_;
};

}  // namespace

bool HoldsLanes(Value value) {
  auto type = mlir::dyn_cast<mlir::VectorType>(value.getType());
  return type && type.getRank() == 1 && type.getNumElements() == kLanes;
}

llvm::DenseMap<Value, int64_t> FindLaneStrides(mlir::Region& region) {
  Finder finder(region);
  finder.Run();
  return finder.Strides();
}

}  // namespace hetgpu::llvm_ir
