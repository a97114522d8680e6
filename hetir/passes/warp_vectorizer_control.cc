// Control flow of simt-to-simd.
#include "hetir/passes/warp_vectorizer.h"

namespace hetgpu::hetir {

using mlir::LogicalResult;
using mlir::OpBuilder;
using mlir::Operation;
using mlir::Type;
using mlir::Value;
using mlir::ValueRange;

LogicalResult WarpVectorizer::UniformBranch(Operation* op, OpBuilder& b,
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
    // Not atBlockEnd(): the region has no parent yet.
    OpBuilder inner(op->getContext());
    inner.setInsertionPointToEnd(block);
    if (mlir::failed(ConvertBlock(region.front(), inner, mask))) {
      return mlir::failure();
    }
    Operation* yield = region.front().getTerminator();
    llvm::SmallVector<Value> values;
    for (auto [value, result] :
         llvm::zip(yield->getOperands(), op->getResults())) {
      values.push_back(Varies(result) ? Vector(value, inner, yield->getLoc())
                                      : Scalar(value));
    }
    inner.create<mlir::scf::YieldOp>(yield->getLoc(), values);
  }
  MapResults(op, b.create(state)->getResults());
  return mlir::success();
}

LogicalResult WarpVectorizer::MaskedRegion(mlir::Region& region, OpBuilder& b,
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

LogicalResult WarpVectorizer::ConvertIf(mlir::scf::IfOp op, OpBuilder& b,
                                        Value mask) {
  if (!uniformity_.IsDivergent(op)) return UniformBranch(op, b, mask);
  mlir::Location at = op.getLoc();
  Value condition = Scalar(op.getCondition());
  Value then_mask = b.create<mlir::arith::AndIOp>(at, mask, condition);
  llvm::SmallVector<Value> then_values, else_values;
  if (mlir::failed(
          MaskedRegion(op.getThenRegion(), b, then_mask, at, then_values))) {
    return mlir::failure();
  }
  if (op.getElseRegion().empty()) return mlir::success();
  Value else_mask =
      b.create<mlir::arith::AndIOp>(at, mask, Not(condition, b, at));
  if (mlir::failed(
          MaskedRegion(op.getElseRegion(), b, else_mask, at, else_values))) {
    return mlir::failure();
  }
  for (auto [result, yes, no] :
       llvm::zip(op.getResults(), then_values, else_values)) {
    map_[result] = b.create<mlir::arith::SelectOp>(at, condition, yes, no);
  }
  return mlir::success();
}

LogicalResult WarpVectorizer::ConvertSwitch(mlir::scf::IndexSwitchOp op,
                                            OpBuilder& b, Value mask) {
  if (!uniformity_.IsDivergent(op)) return UniformBranch(op, b, mask);
  mlir::Location at = op.getLoc();
  Value selector = Scalar(op.getArg());
  llvm::SmallVector<Value> results;
  Value rest = mask;
  llvm::SmallVector<std::pair<Value, mlir::Region*>> sides;
  for (auto [number, region] : llvm::zip(op.getCases(), op.getCaseRegions())) {
    Value expected =
        Broadcast(b.create<mlir::arith::ConstantIndexOp>(at, number), b, at);
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

LogicalResult WarpVectorizer::ConvertWhile(mlir::scf::WhileOp op, OpBuilder& b,
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
    block->addArguments(
        arg_types, llvm::SmallVector<mlir::Location>(arg_types.size(), at));
    for (auto [old, arg] :
         llvm::zip(from.getArguments(), block->getArguments())) {
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
      inner.create<mlir::scf::ConditionOp>(at, Scalar(condition.getCondition()),
                                           next);
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
LogicalResult WarpVectorizer::ConvertDivergentWhile(mlir::scf::WhileOp op,
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
    for (auto [old, arg] :
         llvm::zip(from.getArguments(), block->getArguments().drop_front())) {
      map_[old] = arg;
    }
    return block;
  };
  mlir::Block* before =
      start(op.getBefore(), loop.getBefore(), ValueRange(inits).getTypes());
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
    next.push_back(ib.create<mlir::arith::SelectOp>(at, active, leaving, kept));
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

}  // namespace hetgpu::hetir
