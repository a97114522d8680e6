// simt-to-simd: rewrites a kernel that describes one thread so that it
// describes one warp of 32.
//
// Input is structured (lift-to-scf). WarpUniformity splits values in two:
//
//   uniform   stays a scalar, computed once for the warp
//   varying   becomes vector<32xT>, one element a lane
//
// Control flow that all lanes take together stays as it is. Where lanes part,
// code runs under a mask, a vector<32xi1> of the lanes that are here:
//
//   scf.if c             then side under mask & c, else side under mask & !c,
//                        each skipped when its mask is empty; results selected
//   scf.while c          repeats while any lane continues; a lane that left
//                        keeps the results it left with
//   scf.index_switch     one masked side a case
//
// Pure ops need no mask: every hetIR op is total. Memory ops and collectives
// carry it. Ops that have no warp form (printf, atomics, …) are run lane by
// lane in a loop over the mask.
//
// Refused, with a reason (the caller then runs the kernel thread by thread):
// calls, barriers or waiting loops whose lanes may part, member masks that
// differ by lane.
#include "hetir/analysis/warp_uniformity.h"
#include "hetir/dialect/HetIR.h"
#include "hetir/passes/passes.h"
#include "llvm/ADT/DenseMap.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"

namespace hetgpu::hetir {
namespace {

using mlir::LogicalResult;
using mlir::OpBuilder;
using mlir::Operation;
using mlir::Type;
using mlir::Value;
using mlir::ValueRange;

constexpr int64_t kLanes = 32;

bool IsBarrier(Operation* op) {
  return mlir::isa<BarrierOp, BarrierReduceOp>(op);
}

bool HoldsBarrier(Operation* op) {
  return op->walk([](Operation* inner) {
             return IsBarrier(inner) ? mlir::WalkResult::interrupt()
                                     : mlir::WalkResult::advance();
           })
      .wasInterrupted();
}

bool BarrierFollows(Operation* op) {
  for (Operation* next = op->getNextNode(); next; next = next->getNextNode()) {
    if (HoldsBarrier(next)) return true;
  }
  return false;
}

// Lanes that skip a barrier below `divergent` must never meet another one:
// then they are as good as exited.
bool SkippersMeetNoBarrier(Operation* divergent, Operation* barrier) {
  for (mlir::Region& region : divergent->getRegions()) {
    if (mlir::isa<mlir::scf::WhileOp>(divergent)) break;
    if (region.isAncestor(barrier->getParentRegion())) continue;
    for (Operation& op : region.getOps()) {
      if (HoldsBarrier(&op)) return false;
    }
  }
  for (Operation* op = divergent; !mlir::isa<KernelOp>(op);
       op = op->getParentOp()) {
    if (BarrierFollows(op)) return false;
    if (op != divergent && mlir::isa<mlir::scf::WhileOp>(op)) return false;
  }
  return true;
}

class Vectorizer {
 public:
  explicit Vectorizer(KernelOp kernel)
      : kernel_(kernel), uniformity_(kernel) {}

  LogicalResult Run();

 private:
  LogicalResult Check();
  LogicalResult CheckOp(Operation* op);

  LogicalResult ConvertBlock(mlir::Block& block, OpBuilder& b, Value mask);
  LogicalResult ConvertOp(Operation* op, OpBuilder& b, Value mask);
  LogicalResult ConvertMemory(Operation* op, OpBuilder& b, Value mask);
  LogicalResult ConvertCollective(Operation* op, OpBuilder& b, Value mask);
  LogicalResult ConvertPlain(Operation* op, OpBuilder& b);
  LogicalResult ConvertSerial(Operation* op, OpBuilder& b, Value mask);
  LogicalResult ConvertIf(mlir::scf::IfOp op, OpBuilder& b, Value mask);
  LogicalResult ConvertSwitch(mlir::scf::IndexSwitchOp op, OpBuilder& b,
                              Value mask);
  LogicalResult ConvertWhile(mlir::scf::WhileOp op, OpBuilder& b, Value mask);
  LogicalResult ConvertDivergentWhile(mlir::scf::WhileOp op, OpBuilder& b,
                                      Value mask);
  LogicalResult UniformBranch(Operation* op, OpBuilder& b, Value mask);
  // Runs `region` under `mask` when any lane is in it; `values` are its yields
  // as vectors, zero when skipped.
  LogicalResult MaskedRegion(mlir::Region& region, OpBuilder& b, Value mask,
                             mlir::Location location,
                             llvm::SmallVector<Value>& values);

  bool Varies(Value value) const { return uniformity_.IsVarying(value); }
  Type NewType(Value value) const {
    return Varies(value) ? VectorOf(value.getType()) : value.getType();
  }
  static Type VectorOf(Type type) {
    return mlir::VectorType::get({kLanes}, type);
  }
  Value Scalar(Value old) const { return map_.lookup(old); }
  Value Vector(Value old, OpBuilder& b, mlir::Location location) {
    return Broadcast(map_.lookup(old), b, location);
  }
  static Value Broadcast(Value value, OpBuilder& b, mlir::Location location) {
    if (mlir::isa<mlir::VectorType>(value.getType())) return value;
    return b.create<mlir::vector::BroadcastOp>(
        location, VectorOf(value.getType()), value);
  }
  Value Zero(Type type, OpBuilder& b, mlir::Location location) {
    return b.create<mlir::arith::ConstantOp>(location, b.getZeroAttr(type));
  }
  Value Any(Value mask, OpBuilder& b, mlir::Location location) {
    Value bits = b.create<MaskBitsOp>(location, b.getI32Type(), mask);
    Value zero = Zero(b.getI32Type(), b, location);
    return b.create<mlir::arith::CmpIOp>(
        location, mlir::arith::CmpIPredicate::ne, bits, zero);
  }
  Value Not(Value mask, OpBuilder& b, mlir::Location location) {
    Value ones = b.create<mlir::arith::ConstantOp>(
        location, mlir::DenseElementsAttr::get(
                      mlir::cast<mlir::ShapedType>(mask.getType()), true));
    return b.create<mlir::arith::XOrIOp>(location, mask, ones);
  }
  void MapResults(Operation* from, ValueRange to) {
    for (auto [old, value] : llvm::zip(from->getResults(), to)) {
      map_[old] = value;
    }
  }

  KernelOp kernel_;
  WarpUniformity uniformity_;
  llvm::DenseMap<Value, Value> map_;
};

LogicalResult Vectorizer::CheckOp(Operation* op) {
  if (mlir::isa<mlir::func::CallOp, CallIndirectOp>(op)) {
    return op->emitOpError("calls a device function");
  }
  if (mlir::isa<VendorOp>(op)) return op->emitOpError("has no warp form");
  for (llvm::StringRef name : {"members"}) {
    Value members;
    if (auto shuffle = mlir::dyn_cast<ShuffleOp>(op)) {
      members = shuffle.getMembers();
    } else if (auto vote = mlir::dyn_cast<VoteOp>(op)) {
      members = vote.getMembers();
    } else if (auto match = mlir::dyn_cast<MatchOp>(op)) {
      members = match.getMembers();
    } else if (auto redux = mlir::dyn_cast<ReduxOp>(op)) {
      members = redux.getMembers();
    } else if (auto elect = mlir::dyn_cast<ElectOp>(op)) {
      members = elect.getMembers();
    } else if (auto sync = mlir::dyn_cast<WarpSyncOp>(op)) {
      members = sync.getMembers();
    }
    if (members && Varies(members)) {
      return op->emitOpError() << name << " mask differs by lane";
    }
  }
  bool barrier = IsBarrier(op);
  bool waits = mlir::isa<ProgressOp>(op);
  if (!barrier && !waits) return mlir::success();
  if (barrier) {
    for (Value operand : op->getOperands()) {
      bool predicate = mlir::isa<BarrierReduceOp>(op) &&
                       operand.getType().isInteger(1);
      if (!predicate && Varies(operand)) {
        return op->emitOpError("id or count differs by lane");
      }
    }
  }
  for (Operation* parent = op->getParentOp(); !mlir::isa<KernelOp>(parent);
       parent = parent->getParentOp()) {
    if (!uniformity_.IsDivergent(parent)) continue;
    if (waits) return op->emitOpError("lanes may wait for each other");
    if (!SkippersMeetNoBarrier(parent, op)) {
      return op->emitOpError("in divergent control flow");
    }
  }
  return mlir::success();
}

LogicalResult Vectorizer::Check() {
  if (!kernel_.getBody().hasOneBlock()) {
    return kernel_.emitOpError("expected structured control flow");
  }
  mlir::WalkResult result = kernel_.getBody().walk([&](Operation* op) {
    if (mlir::failed(CheckOp(op))) return mlir::WalkResult::interrupt();
    for (Value value : op->getResults()) {
      if (Varies(value) && mlir::isa<mlir::VectorType>(value.getType())) {
        op->emitOpError("packed value has no warp form");
        return mlir::WalkResult::interrupt();
      }
    }
    return mlir::WalkResult::advance();
  });
  return mlir::failure(result.wasInterrupted());
}

LogicalResult Vectorizer::Run() {
  if (mlir::failed(Check())) return mlir::failure();
  mlir::Region old;
  old.takeBody(kernel_.getBody());
  mlir::Block* body = new mlir::Block;
  kernel_.getBody().push_back(body);
  OpBuilder b = OpBuilder::atBlockEnd(body);
  Value mask = b.create<WarpLanesOp>(kernel_.getLoc(),
                                     VectorOf(b.getI1Type()));
  LogicalResult result = ConvertBlock(old.front(), b, mask);
  if (mlir::failed(result)) return result;
  b.clone(*old.front().getTerminator());
  kernel_.setLanes(kLanes);
  return mlir::success();
}

LogicalResult Vectorizer::ConvertBlock(mlir::Block& block, OpBuilder& b,
                                       Value mask) {
  for (Operation& op : block.without_terminator()) {
    if (mlir::failed(ConvertOp(&op, b, mask))) return mlir::failure();
  }
  return mlir::success();
}

LogicalResult Vectorizer::ConvertOp(Operation* op, OpBuilder& b, Value mask) {
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
LogicalResult Vectorizer::ConvertPlain(Operation* op, OpBuilder& b) {
  bool varying = llvm::any_of(op->getResults(),
                              [&](Value v) { return Varies(v); });
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
LogicalResult Vectorizer::ConvertMemory(Operation* op, OpBuilder& b,
                                        Value mask) {
  if (auto load = mlir::dyn_cast<LoadOp>(op)) {
    if (!Varies(load.getValues().front())) return ConvertPlain(op, b);
    llvm::SmallVector<Type> types;
    for (Value value : load.getValues()) types.push_back(NewType(value));
    Value index = load.getIndex()
                      ? Vector(load.getIndex(), b, op->getLoc()) : Value();
    auto wide = b.create<LoadOp>(
        op->getLoc(), types, load.getSpace(),
        Vector(load.getAddress(), b, op->getLoc()), index, mask,
        load.getOffset(), load.getOrdering(), load.getScope(),
        load.getCache());
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
  Value index = store.getIndex()
                    ? Vector(store.getIndex(), b, op->getLoc()) : Value();
  b.create<StoreOp>(op->getLoc(), store.getSpace(),
                    Vector(store.getAddress(), b, op->getLoc()), index, values,
                    mask, store.getOffset(), store.getOrdering(),
                    store.getScope(), store.getCache());
  return mlir::success();
}

// Collectives: the value by lane, the control operands once, and the mask.
LogicalResult Vectorizer::ConvertCollective(Operation* op, OpBuilder& b,
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
        at, result_types(), shuffle.getMode(), Vector(shuffle.getValue(), b, at),
        Vector(shuffle.getLane(), b, at), Vector(shuffle.getClamp(), b, at),
        Scalar(shuffle.getMembers()), mask);
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
    wide = b.create<BarrierReduceOp>(
        at, op->getResult(0).getType(), reduce.getKind(),
        Scalar(reduce.getId()), Vector(reduce.getPredicate(), b, at), count,
        mask, reduce.getAligned());
  } else {
    wide = b.create<TrapLanesOp>(at, mask);
  }
  MapResults(op, wide->getResults());
  return mlir::success();
}

// for each lane in mask, lowest first: the op on that lane's operands
LogicalResult Vectorizer::ConvertSerial(Operation* op, OpBuilder& b,
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
            at, ib.getI32Type(),
            ib.create<BrevOp>(at, ib.getI32Type(), bits));
        mlir::IRMapping lane_map;
        for (Value operand : op->getOperands()) {
          Value value = map_.lookup(operand);
          if (Varies(operand)) {
            value = ib.create<mlir::vector::ExtractElementOp>(at, value, lane);
          }
          lane_map.map(operand, value);
        }
        Operation* single = ib.clone(*op, lane_map);
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

LogicalResult Vectorizer::UniformBranch(Operation* op, OpBuilder& b,
                                        Value mask) {
  mlir::OperationState state(op->getLoc(), op->getName());
  state.addAttributes(op->getAttrs());
  for (Value operand : op->getOperands()) state.addOperands(Scalar(operand));
  for (Value result : op->getResults()) state.addTypes(NewType(result));
  for (mlir::Region& region : op->getRegions()) {
    mlir::Region* target = state.addRegion();
    if (region.empty()) continue;
    mlir::Block* block = new mlir::Block;
    target->push_back(block);
    OpBuilder inner = OpBuilder::atBlockEnd(block);
    if (mlir::failed(ConvertBlock(region.front(), inner, mask))) {
      return mlir::failure();
    }
    Operation* yield = region.front().getTerminator();
    llvm::SmallVector<Value> values;
    for (auto [value, result] :
         llvm::zip(yield->getOperands(), op->getResults())) {
      values.push_back(Varies(result)
                           ? Vector(value, inner, yield->getLoc())
                           : Scalar(value));
    }
    inner.create<mlir::scf::YieldOp>(yield->getLoc(), values);
  }
  MapResults(op, b.create(state)->getResults());
  return mlir::success();
}

LogicalResult Vectorizer::MaskedRegion(mlir::Region& region, OpBuilder& b,
                                       Value mask, mlir::Location at,
                                       llvm::SmallVector<Value>& values) {
  mlir::Block& block = region.front();
  Operation* yield = block.getTerminator();
  auto yielded = [&](OpBuilder& ib) {
    llvm::SmallVector<Value> results;
    for (Value value : yield->getOperands()) {
      results.push_back(Vector(value, ib, at));
    }
    return results;
  };
  bool cheap = std::distance(block.begin(), block.end()) <= 8 &&
               llvm::all_of(block.without_terminator(), [](Operation& op) {
                 return op.getNumRegions() == 0 && mlir::isPure(&op);
               });
  if (cheap) {
    if (mlir::failed(ConvertBlock(block, b, mask))) return mlir::failure();
    values = yielded(b);
    return mlir::success();
  }
  llvm::SmallVector<Type> types;
  for (Value value : yield->getOperands()) {
    types.push_back(VectorOf(value.getType()));
  }
  auto branch = b.create<mlir::scf::IfOp>(at, types, Any(mask, b, at),
                                          /*withElseRegion=*/!types.empty());
  OpBuilder then = branch.getThenBodyBuilder();
  if (mlir::failed(ConvertBlock(block, then, mask))) return mlir::failure();
  if (!types.empty()) {
    then.create<mlir::scf::YieldOp>(at, yielded(then));
    OpBuilder skip = branch.getElseBodyBuilder();
    llvm::SmallVector<Value> zeros;
    for (Type type : types) zeros.push_back(Zero(type, skip, at));
    skip.create<mlir::scf::YieldOp>(at, zeros);
  }
  values.assign(branch.getResults().begin(), branch.getResults().end());
  return mlir::success();
}

LogicalResult Vectorizer::ConvertIf(mlir::scf::IfOp op, OpBuilder& b,
                                    Value mask) {
  if (!uniformity_.IsDivergent(op)) return UniformBranch(op, b, mask);
  mlir::Location at = op.getLoc();
  Value condition = Scalar(op.getCondition());
  Value then_mask = b.create<mlir::arith::AndIOp>(at, mask, condition);
  llvm::SmallVector<Value> then_values, else_values;
  if (mlir::failed(MaskedRegion(op.getThenRegion(), b, then_mask, at,
                                then_values))) {
    return mlir::failure();
  }
  if (op.getElseRegion().empty()) return mlir::success();
  Value else_mask =
      b.create<mlir::arith::AndIOp>(at, mask, Not(condition, b, at));
  if (mlir::failed(MaskedRegion(op.getElseRegion(), b, else_mask, at,
                                else_values))) {
    return mlir::failure();
  }
  for (auto [result, yes, no] :
       llvm::zip(op.getResults(), then_values, else_values)) {
    map_[result] = b.create<mlir::arith::SelectOp>(at, condition, yes, no);
  }
  return mlir::success();
}

LogicalResult Vectorizer::ConvertSwitch(mlir::scf::IndexSwitchOp op,
                                        OpBuilder& b, Value mask) {
  if (!uniformity_.IsDivergent(op)) return UniformBranch(op, b, mask);
  mlir::Location at = op.getLoc();
  Value selector = Scalar(op.getArg());
  llvm::SmallVector<Value> results;
  Value rest = mask;
  llvm::SmallVector<std::pair<Value, mlir::Region*>> sides;
  for (auto [number, region] :
       llvm::zip(op.getCases(), op.getCaseRegions())) {
    Value expected = Broadcast(
        b.create<mlir::arith::ConstantIndexOp>(at, number), b, at);
    Value here = b.create<mlir::arith::CmpIOp>(
        at, mlir::arith::CmpIPredicate::eq, selector, expected);
    sides.push_back({b.create<mlir::arith::AndIOp>(at, mask, here), &region});
    rest = b.create<mlir::arith::AndIOp>(at, rest, Not(here, b, at));
  }
  sides.push_back({rest, &op.getDefaultRegion()});
  for (auto [side_mask, region] : sides) {
    llvm::SmallVector<Value> values;
    if (mlir::failed(MaskedRegion(*region, b, side_mask, at, values))) {
      return mlir::failure();
    }
    if (results.empty()) {
      results = values;
      continue;
    }
    for (auto [result, value] : llvm::zip(results, values)) {
      result = b.create<mlir::arith::SelectOp>(at, side_mask, value, result);
    }
  }
  MapResults(op, results);
  return mlir::success();
}

LogicalResult Vectorizer::ConvertWhile(mlir::scf::WhileOp op, OpBuilder& b,
                                       Value mask) {
  if (uniformity_.IsDivergent(op)) return ConvertDivergentWhile(op, b, mask);
  mlir::Location at = op.getLoc();
  auto as = [&](Value value, Value like, OpBuilder& ib) {
    return Varies(like) ? Vector(value, ib, at) : Scalar(value);
  };
  auto types = [&](ValueRange values) {
    llvm::SmallVector<Type> out;
    for (Value value : values) out.push_back(NewType(value));
    return out;
  };
  llvm::SmallVector<Value> inits;
  for (auto [init, arg] : llvm::zip(op.getInits(), op.getBeforeArguments())) {
    inits.push_back(as(init, arg, b));
  }
  auto loop = b.create<mlir::scf::WhileOp>(at, types(op.getResults()), inits);
  auto convert = [&](mlir::Region& from, mlir::Region& to) {
    llvm::SmallVector<Type> arg_types = types(from.getArguments());
    mlir::Block* block = new mlir::Block;
    to.push_back(block);
    block->addArguments(arg_types,
                        llvm::SmallVector<mlir::Location>(arg_types.size(), at));
    for (auto [old, arg] : llvm::zip(from.getArguments(),
                                     block->getArguments())) {
      map_[old] = arg;
    }
    OpBuilder inner = OpBuilder::atBlockEnd(block);
    if (mlir::failed(ConvertBlock(from.front(), inner, mask))) {
      return mlir::failure();
    }
    llvm::SmallVector<Value> next;
    if (auto condition = mlir::dyn_cast<mlir::scf::ConditionOp>(
            from.front().getTerminator())) {
      for (auto [value, like] :
           llvm::zip(condition.getArgs(), op.getAfterArguments())) {
        next.push_back(as(value, like, inner));
      }
      inner.create<mlir::scf::ConditionOp>(
          at, Scalar(condition.getCondition()), next);
    } else {
      for (auto [value, like] :
           llvm::zip(op.getYieldOp().getResults(), op.getBeforeArguments())) {
        next.push_back(as(value, like, inner));
      }
      inner.create<mlir::scf::YieldOp>(at, next);
    }
    return mlir::success();
  };
  if (mlir::failed(convert(op.getBefore(), loop.getBefore())) ||
      mlir::failed(convert(op.getAfter(), loop.getAfter()))) {
    return mlir::failure();
  }
  MapResults(op, loop.getResults());
  return mlir::success();
}

// Carries {active lanes, loop values, results of lanes that left}.
LogicalResult Vectorizer::ConvertDivergentWhile(mlir::scf::WhileOp op,
                                                OpBuilder& b, Value mask) {
  mlir::Location at = op.getLoc();
  llvm::SmallVector<unsigned> used;
  for (auto result : op.getResults()) {
    if (!result.use_empty()) used.push_back(result.getResultNumber());
  }
  auto as = [&](Value value, Value like, OpBuilder& ib) {
    return Varies(like) ? Vector(value, ib, at) : Scalar(value);
  };
  llvm::SmallVector<Value> inits = {mask};
  for (auto [init, arg] : llvm::zip(op.getInits(), op.getBeforeArguments())) {
    inits.push_back(as(init, arg, b));
  }
  llvm::SmallVector<Type> result_types = {mask.getType()};
  for (Value arg : op.getAfterArguments()) result_types.push_back(NewType(arg));
  for (unsigned number : used) {
    Type type = VectorOf(op.getResult(number).getType());
    inits.push_back(Zero(type, b, at));
    result_types.push_back(type);
  }
  auto loop = b.create<mlir::scf::WhileOp>(at, result_types, inits);

  auto start = [&](mlir::Region& from, mlir::Region& to,
                   mlir::TypeRange types) {
    mlir::Block* block = new mlir::Block;
    to.push_back(block);
    block->addArguments(types,
                        llvm::SmallVector<mlir::Location>(types.size(), at));
    for (auto [old, arg] : llvm::zip(from.getArguments(),
                                     block->getArguments().drop_front())) {
      map_[old] = arg;
    }
    return block;
  };
  mlir::Block* before = start(op.getBefore(), loop.getBefore(),
                              ValueRange(inits).getTypes());
  Value active = before->getArgument(0);
  OpBuilder ib = OpBuilder::atBlockEnd(before);
  if (mlir::failed(ConvertBlock(op.getBefore().front(), ib, active))) {
    return mlir::failure();
  }
  auto condition = op.getConditionOp();
  Value stay = ib.create<mlir::arith::AndIOp>(
      at, active, Vector(condition.getCondition(), ib, at));
  llvm::SmallVector<Value> next = {stay};
  for (auto [value, like] :
       llvm::zip(condition.getArgs(), op.getAfterArguments())) {
    next.push_back(as(value, like, ib));
  }
  size_t first_result = 1 + op.getInits().size();
  for (auto [slot, number] : llvm::enumerate(used)) {
    Value leaving = Vector(condition.getArgs()[number], ib, at);
    Value kept = before->getArgument(first_result + slot);
    next.push_back(
        ib.create<mlir::arith::SelectOp>(at, active, leaving, kept));
  }
  ib.create<mlir::scf::ConditionOp>(at, Any(stay, ib, at), next);

  mlir::Block* after = start(op.getAfter(), loop.getAfter(), result_types);
  OpBuilder ab = OpBuilder::atBlockEnd(after);
  Value still = after->getArgument(0);
  if (mlir::failed(ConvertBlock(op.getAfter().front(), ab, still))) {
    return mlir::failure();
  }
  llvm::SmallVector<Value> yields = {still};
  for (auto [value, like] :
       llvm::zip(op.getYieldOp().getResults(), op.getBeforeArguments())) {
    yields.push_back(as(value, like, ab));
  }
  for (Value kept : after->getArguments().take_back(used.size())) {
    yields.push_back(kept);
  }
  ab.create<mlir::scf::YieldOp>(at, yields);
  for (auto [slot, number] : llvm::enumerate(used)) {
    map_[op.getResult(number)] =
        loop.getResult(1 + op.getAfterArguments().size() + slot);
  }
  return mlir::success();
}

struct SimtToSimd : mlir::PassWrapper<SimtToSimd, mlir::OperationPass<>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(SimtToSimd)
  llvm::StringRef getArgument() const final { return "simt-to-simd"; }
  llvm::StringRef getDescription() const final {
    return "rewrite kernels of one thread into kernels of one warp";
  }
  void getDependentDialects(mlir::DialectRegistry& registry) const final {
    registry.insert<mlir::scf::SCFDialect, mlir::vector::VectorDialect>();
  }
  void runOnOperation() override {
    mlir::WalkResult result = getOperation()->walk([&](KernelOp kernel) {
      return mlir::failed(Vectorizer(kernel).Run())
                 ? mlir::WalkResult::interrupt()
                 : mlir::WalkResult::skip();
    });
    if (result.wasInterrupted()) signalPassFailure();
  }
};

}  // namespace

std::unique_ptr<mlir::Pass> CreateSimtToSimdPass() {
  return std::make_unique<SimtToSimd>();
}

}  // namespace hetgpu::hetir
