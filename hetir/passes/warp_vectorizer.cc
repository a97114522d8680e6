// Values, memory and collectives of simt-to-simd.
#include "hetir/passes/warp_vectorizer.h"

#include "llvm/ADT/TypeSwitch.h"
#include "mlir/IR/IRMapping.h"

namespace hetgpu::hetir {

using mlir::LogicalResult;
using mlir::OpBuilder;
using mlir::Operation;
using mlir::Type;
using mlir::Value;
using mlir::ValueRange;

LogicalResult WarpVectorizer::Run() {
  if (mlir::failed(Check())) return mlir::failure();
  mlir::Region old;
  old.takeBody(kernel_.getBody());
  mlir::Block* body = new mlir::Block;
  kernel_.getBody().push_back(body);
  OpBuilder b = OpBuilder::atBlockEnd(body);
  Value mask = b.create<WarpLanesOp>(kernel_.getLoc(), VectorOf(b.getI1Type()));
  LogicalResult result = ConvertBlock(old.front(), b, mask);
  if (mlir::failed(result)) return result;
  b.clone(*old.front().getTerminator());
  kernel_.setLanes(kLanes);
  return mlir::success();
}

LogicalResult WarpVectorizer::ConvertBlock(mlir::Block& block, OpBuilder& b,
                                           Value mask) {
  for (Operation& op : block.without_terminator()) {
    if (mlir::failed(ConvertOp(&op, b, mask))) return mlir::failure();
  }
  return mlir::success();
}

LogicalResult WarpVectorizer::ConvertOp(Operation* op, OpBuilder& b,
                                        Value mask) {
  if (auto branch = mlir::dyn_cast<mlir::scf::IfOp>(op)) {
    return ConvertIf(branch, b, mask);
  }
  if (auto branch = mlir::dyn_cast<mlir::scf::IndexSwitchOp>(op)) {
    return ConvertSwitch(branch, b, mask);
  }
  if (auto loop = mlir::dyn_cast<mlir::scf::WhileOp>(op)) {
    return ConvertWhile(loop, b, mask);
  }
  if (mlir::isa<LoadOp, StoreOp>(op)) return ConvertMemory(op, b, mask);
  if (mlir::isa<AtomicOp, AtomicCasOp, AssertFailOp, VprintfOp, MallocOp,
                FreeOp>(op)) {
    return ConvertSerial(op, b, mask);
  }
  if (mlir::isa<ShuffleOp, VoteOp, MatchOp, ReduxOp, ActiveMaskOp, BarrierOp,
                BarrierReduceOp, TrapLanesOp>(op)) {
    return ConvertCollective(op, b, mask);
  }
  if (op->getNumRegions() == 0) return ConvertPlain(op, b);
  return op->emitOpError("has no warp form");
}

// Pure ops, and ops that act once for the warp (fences, timers, sleeps).
LogicalResult WarpVectorizer::ConvertPlain(Operation* op, OpBuilder& b) {
  bool varying =
      llvm::any_of(op->getResults(), [&](Value v) { return Varies(v); });
  mlir::OperationState state(op->getLoc(), op->getName());
  state.addAttributes(op->getAttrs());
  for (Value operand : op->getOperands()) {
    bool scalar = !varying || mlir::isa<ElectOp>(op);
    Value value = scalar ? Scalar(operand) : Vector(operand, b, op->getLoc());
    if (scalar && Varies(operand)) {
      return op->emitOpError("operand differs by lane");
    }
    state.addOperands(value);
  }
  for (Value result : op->getResults()) state.addTypes(NewType(result));
  MapResults(op, b.create(state)->getResults());
  return mlir::success();
}

// A load all lanes do at one address is done once; everything else is a gather
// or scatter under the mask.
LogicalResult WarpVectorizer::ConvertMemory(Operation* op, OpBuilder& b,
                                            Value mask) {
  if (auto load = mlir::dyn_cast<LoadOp>(op)) {
    if (!Varies(load.getValues().front())) {
      if (mlir::failed(ConvertPlain(op, b))) return mlir::failure();
      // Says for which lane the access is made, should it fail.
      bool all = load.getSpace() == Space::param ||
                 mask.getDefiningOp<WarpLanesOp>() != nullptr;
      if (!all) {
        mlir::cast<LoadOp>(map_.lookup(op->getResult(0)).getDefiningOp())
            .getMaskMutable()
            .assign(mask);
      }
      return mlir::success();
    }
    llvm::SmallVector<Type> types;
    for (Value value : load.getValues()) types.push_back(NewType(value));
    Value index =
        load.getIndex() ? Vector(load.getIndex(), b, op->getLoc()) : Value();
    auto wide = b.create<LoadOp>(
        op->getLoc(), types, load.getSpace(),
        Vector(load.getAddress(), b, op->getLoc()), index, mask,
        load.getOffset(), load.getOrdering(), load.getScope(), load.getCache());
    MapResults(op, wide->getResults());
    return mlir::success();
  }
  auto store = mlir::cast<StoreOp>(op);
  llvm::SmallVector<Value> values;
  for (Value value : store.getValues()) {
    if (mlir::isa<mlir::VectorType>(value.getType())) {
      return op->emitOpError("packed value has no warp form");
    }
    values.push_back(Vector(value, b, op->getLoc()));
  }
  Value index =
      store.getIndex() ? Vector(store.getIndex(), b, op->getLoc()) : Value();
  b.create<StoreOp>(op->getLoc(), store.getSpace(),
                    Vector(store.getAddress(), b, op->getLoc()), index, values,
                    mask, store.getOffset(), store.getOrdering(),
                    store.getScope(), store.getCache());
  return mlir::success();
}

// Collectives: the value by lane, the control operands once, and the mask.
LogicalResult WarpVectorizer::ConvertCollective(Operation* op, OpBuilder& b,
                                                Value mask) {
  mlir::Location at = op->getLoc();
  auto result_types = [&] {
    llvm::SmallVector<Type> types;
    for (Value result : op->getResults()) types.push_back(NewType(result));
    return types;
  };
  Operation* wide = nullptr;
  if (auto shuffle = mlir::dyn_cast<ShuffleOp>(op)) {
    wide = b.create<ShuffleOp>(
        at, result_types(), shuffle.getMode(),
        Vector(shuffle.getValue(), b, at), Vector(shuffle.getLane(), b, at),
        Vector(shuffle.getClamp(), b, at), Scalar(shuffle.getMembers()), mask);
  } else if (auto vote = mlir::dyn_cast<VoteOp>(op)) {
    wide = b.create<VoteOp>(at, result_types(), vote.getKind(),
                            Vector(vote.getPredicate(), b, at),
                            Scalar(vote.getMembers()), mask);
  } else if (auto match = mlir::dyn_cast<MatchOp>(op)) {
    wide = b.create<MatchOp>(at, result_types(), match.getKind(),
                             Vector(match.getValue(), b, at),
                             Scalar(match.getMembers()), mask);
  } else if (auto redux = mlir::dyn_cast<ReduxOp>(op)) {
    // One scalar: the element type of what lanes contribute.
    wide = b.create<ReduxOp>(at, result_types(), redux.getKind(),
                             Vector(redux.getValue(), b, at),
                             Scalar(redux.getMembers()), mask);
  } else if (mlir::isa<ActiveMaskOp>(op)) {
    wide = b.create<ActiveMaskOp>(at, b.getI32Type(), mask);
  } else if (auto barrier = mlir::dyn_cast<BarrierOp>(op)) {
    Value count = barrier.getCount() ? Scalar(barrier.getCount()) : Value();
    wide = b.create<BarrierOp>(at, Scalar(barrier.getId()), count, mask,
                               barrier.getArrive(), barrier.getAligned());
  } else if (auto reduce = mlir::dyn_cast<BarrierReduceOp>(op)) {
    Value count = reduce.getCount() ? Scalar(reduce.getCount()) : Value();
    wide = b.create<BarrierReduceOp>(at, op->getResult(0).getType(),
                                     reduce.getKind(), Scalar(reduce.getId()),
                                     Vector(reduce.getPredicate(), b, at),
                                     count, mask, reduce.getAligned());
  } else {
    wide = b.create<TrapLanesOp>(at, mask);
  }
  MapResults(op, wide->getResults());
  return mlir::success();
}

// for each lane in mask, lowest first: the op on that lane's operands
LogicalResult WarpVectorizer::ConvertSerial(Operation* op, OpBuilder& b,
                                            Value mask) {
  mlir::Location at = op->getLoc();
  llvm::SmallVector<Value> inits;
  inits.push_back(b.create<MaskBitsOp>(at, b.getI32Type(), mask));
  for (Value result : op->getResults()) {
    inits.push_back(Zero(VectorOf(result.getType()), b, at));
  }
  auto loop = b.create<mlir::scf::WhileOp>(
      at, ValueRange(inits).getTypes(), inits,
      [&](OpBuilder& ib, mlir::Location, ValueRange args) {
        Value more = ib.create<mlir::arith::CmpIOp>(
            at, mlir::arith::CmpIPredicate::ne, args[0],
            Zero(ib.getI32Type(), ib, at));
        ib.create<mlir::scf::ConditionOp>(at, more, args);
      },
      [&](OpBuilder& ib, mlir::Location, ValueRange args) {
        Value bits = args[0];
        Value lane = ib.create<ClzOp>(
            at, ib.getI32Type(), ib.create<BrevOp>(at, ib.getI32Type(), bits));
        mlir::IRMapping lane_map;
        for (Value operand : op->getOperands()) {
          Value value = map_.lookup(operand);
          if (Varies(operand)) {
            value = ib.create<mlir::vector::ExtractElementOp>(at, value, lane);
          }
          lane_map.map(operand, value);
        }
        Value self;
        if (mlir::isa<AtomicOp, AtomicCasOp>(op)) {
          Value yes = ib.create<mlir::arith::ConstantIntOp>(at, 1, 1);
          self = ib.create<mlir::vector::InsertElementOp>(
              at, yes, Zero(VectorOf(ib.getI1Type()), ib, at), lane);
        }
        Operation* single = ib.clone(*op, lane_map);
        if (auto atomic = mlir::dyn_cast<AtomicOp>(single)) {
          atomic.getMaskMutable().assign(self);
        }
        if (auto swap = mlir::dyn_cast<AtomicCasOp>(single)) {
          swap.getMaskMutable().assign(self);
        }
        if (auto fail = mlir::dyn_cast<AssertFailOp>(single)) {
          fail.getLaneMutable().assign(lane);
        }
        llvm::SmallVector<Value> next;
        Value one = ib.create<mlir::arith::ConstantIntOp>(at, 1, 32);
        Value below = ib.create<mlir::arith::SubIOp>(at, bits, one);
        next.push_back(ib.create<mlir::arith::AndIOp>(at, bits, below));
        for (auto [vector, value] :
             llvm::zip(args.drop_front(), single->getResults())) {
          next.push_back(ib.create<mlir::vector::InsertElementOp>(
              at, value, vector, lane));
        }
        ib.create<mlir::scf::YieldOp>(at, next);
      });
  MapResults(op, loop.getResults().drop_front());
  return mlir::success();
}

}  // namespace hetgpu::hetir
