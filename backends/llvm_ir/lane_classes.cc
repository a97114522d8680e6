#include "backends/llvm_ir/lane_classes.h"

#include <algorithm>
#include <utility>

#include "backends/llvm_ir/lane_strides.h"
#include "hetir/dialect/HetIR.h"
#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/ADT/TypeSwitch.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/RegionGraphTraits.h"

namespace hetgpu::llvm_ir {
namespace {

namespace arith = mlir::arith;
using mlir::Value;

// What a vector is multiplied by: a value that all lanes have in common, and a
// constant.
struct Factor {
  const void* uniform = nullptr;
  int64_t constant = 1;

  auto operator<=>(const Factor&) const = default;
};
// By the number of its vector, so that the order is the program's.
using Term = std::pair<unsigned, Factor>;
using Terms = std::vector<Term>;

constexpr size_t kMaxTerms = 4;
constexpr unsigned kUniform = 0;

class Finder {
 public:
  explicit Finder(mlir::Region& region) : region_(region) {
    ids_[{}] = kUniform;
    terms_.push_back({});
  }

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

  llvm::DenseMap<Value, unsigned> Classes() const { return classes_; }

  llvm::DenseMap<unsigned, Value> Leaders() const {
    llvm::DenseMap<unsigned, Value> first, leaders;
    auto visit = [&](Value value) {
      auto found = classes_.find(value);
      if (found == classes_.end() || found->second == kUniform) return;
      auto [place, is_new] = first.try_emplace(found->second, value);
      if (!is_new) leaders.try_emplace(found->second, place->second);
    };
    for (mlir::Block* block :
         llvm::ReversePostOrderTraversal<mlir::Block*>(&region_.front())) {
      for (Value argument : block->getArguments()) visit(argument);
      for (mlir::Operation& op : *block) {
        for (Value result : op.getResults()) visit(result);
      }
    }
    return leaders;
  }

  llvm::DenseMap<unsigned, LaneClasses::Product> Products() const {
    llvm::DenseMap<unsigned, Value> vectors;
    for (auto [vector, number] : numbers_) vectors[number] = vector;
    llvm::DenseMap<unsigned, LaneClasses::Product> products;
    for (const auto& [terms, id] : ids_) {
      if (terms.size() != 1 || terms[0].second.uniform) continue;
      products[id] = {vectors.lookup(terms[0].first), terms[0].second.constant};
    }
    return products;
  }

 private:
  using Class = std::optional<unsigned>;

  Class Get(Value value) const {
    if (!HoldsLanes(value)) return kUniform;
    auto found = classes_.find(value);
    if (found == classes_.end()) return std::nullopt;
    return found->second;
  }

  unsigned Intern(const Terms& terms) {
    auto [place, is_new] = ids_.try_emplace(terms, terms_.size());
    if (is_new) terms_.push_back(terms);
    return place->second;
  }

  // The class of a vector that is taken as it is.
  unsigned Own(Value value) {
    auto [place, is_new] = numbers_.try_emplace(value, numbers_.size());
    return Intern({{place->second, Factor()}});
  }

  bool Set(Value value, unsigned id) {
    auto [place, is_new] = classes_.try_emplace(value, id);
    if (!is_new && place->second == id) return false;
    place->second = id;
    return true;
  }

  // What is found to differ on two ways into a block stays its own class.
  bool Join(Value argument, Class incoming) {
    if (!incoming) return false;
    Class old = Get(argument);
    if (!old) return Set(argument, *incoming);
    if (*old == *incoming || *old == Own(argument)) return false;
    return Set(argument, Own(argument));
  }

  bool Visit(mlir::Operation& op) {
    bool changed = false;
    for (Value result : op.getResults()) {
      if (!HoldsLanes(result)) continue;
      if (Class found = Transfer(op)) changed |= Set(result, *found);
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

  Class Sum(mlir::Operation* op, Value a, Value b) {
    Class x = Get(a), y = Get(b);
    if (!x || !y) return std::nullopt;
    if (*x == kUniform) return y;
    if (*y == kUniform) return x;
    Terms sum = terms_[*x];
    sum.insert(sum.end(), terms_[*y].begin(), terms_[*y].end());
    if (sum.size() > kMaxTerms) return Own(op->getResult(0));
    std::sort(sum.begin(), sum.end());
    return Intern(sum);
  }

  Class Difference(mlir::Operation* op, Value a, Value b) {
    Class x = Get(a), y = Get(b);
    if (!x || !y) return std::nullopt;
    return *y == kUniform ? x : Class(Own(op->getResult(0)));
  }

  // Of a vector with a value that all lanes have in common.
  Class Product(mlir::Operation* op, Value a, Value b) {
    Class x = Get(a), y = Get(b);
    if (!x || !y) return std::nullopt;
    if (*x == kUniform) {
      std::swap(a, b);
      std::swap(x, y);
    }
    if (*y != kUniform) return Own(op->getResult(0));
    Terms product = terms_[*x];
    llvm::APInt constant;
    const bool is_constant =
        mlir::matchPattern(b, mlir::m_ConstantInt(&constant));
    auto splat = b.getDefiningOp<mlir::vector::BroadcastOp>();
    if (!is_constant && !splat) return Own(op->getResult(0));
    for (auto& [vector, factor] : product) {
      if (is_constant) {
        factor.constant = static_cast<int64_t>(
            static_cast<uint64_t>(factor.constant) * constant.getSExtValue());
      } else if (!factor.uniform) {
        factor.uniform = splat.getSource().getAsOpaquePointer();
      } else {
        return Own(op->getResult(0));
      }
    }
    return Intern(product);
  }

  Class Transfer(mlir::Operation& op) {
    return llvm::TypeSwitch<mlir::Operation*, Class>(&op)
        .Case<mlir::vector::BroadcastOp>(
            [&](auto) { return Class(kUniform); })
        .Case<arith::ConstantOp>([&](auto o) {
          auto elements =
              mlir::dyn_cast<mlir::DenseElementsAttr>(o.getValue());
          return elements && elements.isSplat() ? kUniform
                                                : Own(o.getResult());
        })
        .Case<arith::AddIOp>(
            [&](auto o) { return Sum(o, o.getLhs(), o.getRhs()); })
        .Case<arith::SubIOp>(
            [&](auto o) { return Difference(o, o.getLhs(), o.getRhs()); })
        .Case<arith::MulIOp>(
            [&](auto o) { return Product(o, o.getLhs(), o.getRhs()); })
        .Default([&](mlir::Operation* other) -> Class {
          return other->getNumResults() == 1 ? Own(other->getResult(0))
                                             : Class();
        });
  }

  mlir::Region& region_;
  std::map<Terms, unsigned> ids_;
  std::vector<Terms> terms_;
  llvm::DenseMap<Value, unsigned> numbers_;
  llvm::DenseMap<Value, unsigned> classes_;
};

}  // namespace

LaneClasses::LaneClasses(mlir::Region& region)
    : dominance_(region.getParentOp()) {
  Finder finder(region);
  finder.Run();
  classes_ = finder.Classes();
  leaders_ = finder.Leaders();
  products_ = finder.Products();
}

Value LaneClasses::Representative(Value value, mlir::Operation* user) {
  auto found = classes_.find(value);
  if (found == classes_.end() || found->second == kUniform) return value;
  Value leader = leaders_.lookup(found->second);
  if (leader && leader.getType() == value.getType() &&
      dominance_.properlyDominates(leader, user)) {
    return leader;
  }
  std::vector<Value>& known = representatives_[found->second];
  for (Value candidate : known) {
    if (candidate.getType() == value.getType() &&
        dominance_.properlyDominates(candidate, user)) {
      return candidate;
    }
  }
  known.push_back(value);
  return value;
}

Value LaneClasses::Leader(Value value) {
  auto found = classes_.find(value);
  if (found == classes_.end()) return Value();
  Value leader = leaders_.lookup(found->second);
  if (!leader || leader == value || leader.getType() != value.getType()) {
    return Value();
  }
  mlir::Operation* op = value.getDefiningOp();
  if (!op) op = &value.getParentBlock()->front();
  return dominance_.properlyDominates(leader, op) ? leader : Value();
}

bool LaneClasses::IsLeader(Value value) const {
  auto found = classes_.find(value);
  return found != classes_.end() && leaders_.lookup(found->second) == value;
}

std::optional<LaneClasses::Product> LaneClasses::ProductOf(
    Value value, mlir::Operation* user) {
  auto found = classes_.find(value);
  if (found == classes_.end()) return std::nullopt;
  auto product = products_.find(found->second);
  if (product == products_.end() ||
      !dominance_.properlyDominates(product->second.vector, user)) {
    return std::nullopt;
  }
  return product->second;
}

}  // namespace hetgpu::llvm_ir
