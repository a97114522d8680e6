// Loads, stores, fences, address ops.
#include "backends/llvm_ir/memory_access.h"
#include "backends/llvm_ir/op_table.h"
#include "backends/llvm_ir/ordering.h"
#include "backends/llvm_ir/target_hooks.h"
#include "backends/llvm_ir/warp_memory.h"
#include "hetir/dialect/HetIR.h"
#include "llvm/IR/Metadata.h"

namespace hetgpu::llvm_ir {
namespace {

using namespace hetir;  // op classes

// How the values of a group lie in memory.
struct Group {
  llvm::Type* value;    // as an SSA value (of one lane)
  llvm::Type* element;  // in memory
  uint64_t count;
  uint64_t bytes;       // of the whole group: its natural alignment
};

// `lanes`: the SSA values hold one element per lane.
Group GroupOf(Emitter& e, mlir::Value first, uint64_t count, bool lanes) {
  Group group;
  llvm::Type* type = e.TypeOf(first);
  group.value = lanes ? type->getScalarType() : type;
  group.element = MemoryType(group.value, group.value->isVectorTy());
  group.count = count;
  group.bytes = count * group.element->getPrimitiveSizeInBits() / 8;
  return group;
}

bool HasLanes(mlir::Value address, mlir::Value index) {
  return mlir::isa<mlir::VectorType>(address.getType()) ||
         (index && mlir::isa<mlir::VectorType>(index.getType()));
}

llvm::Type* GroupType(const Group& group) {
  return group.count == 1
             ? group.element
             : llvm::FixedVectorType::get(group.element, group.count);
}

template <typename Op>
AccessRequest RequestOf(Op op, uint64_t bytes) {
  return {op,           op.getSpace(),  op.getAddress(), op.getIndex(),
          op.getMask(), static_cast<int64_t>(op.getOffset()), bytes,
          op.getOrdering() == Ordering::weak && op.getValues().size() == 1};
}

// Parameters and const data do not change while a kernel runs.
void MarkInvariant(llvm::LoadInst* load, Space space) {
  if (space != Space::param && space != Space::constant) return;
  load->setMetadata(llvm::LLVMContext::MD_invariant_load,
                    llvm::MDNode::get(load->getContext(), {}));
}

llvm::Value* StrongLoad(Ir& ir, llvm::Type* type, llvm::Value* pointer,
                        Ordering ordering) {
  llvm::Type* bits = ir.getIntNTy(type->getPrimitiveSizeInBits());
  llvm::LoadInst* load = ir.CreateAlignedLoad(
      bits, pointer, llvm::Align(type->getPrimitiveSizeInBits() / 8));
  load->setAtomic(LoadOrdering(ordering));
  load->setVolatile(ordering == Ordering::volatile_);
  return ir.CreateBitCast(load, type);
}

void StrongStore(Ir& ir, llvm::Value* value, llvm::Value* pointer,
                 Ordering ordering) {
  unsigned size = value->getType()->getPrimitiveSizeInBits();
  value = ir.CreateBitCast(value, ir.getIntNTy(size));
  llvm::StoreInst* store =
      ir.CreateAlignedStore(value, pointer, llvm::Align(size / 8));
  store->setAtomic(StoreOrdering(ordering));
  store->setVolatile(ordering == Ordering::volatile_);
}

llvm::Value* ElementPointer(Ir& ir, llvm::Value* pointer, const Group& group,
                            uint64_t i) {
  if (i == 0) return pointer;
  return ir.CreateGEP(
      ir.getInt8Ty(), pointer,
      ir.getInt64(i * group.element->getPrimitiveSizeInBits() / 8));
}

absl::Status EmitLoad(Emitter& e, LoadOp op) {
  Ir& ir = e.ir();
  bool lanes = HasLanes(op.getAddress(), op.getIndex());
  Group group =
      GroupOf(e, op.getValues().front(), op.getValues().size(), lanes);
  Access access = EmitAccess(e, RequestOf(op, group.bytes));
  if (lanes) {
    llvm::SmallVector<llvm::Value*> values = LoadLanes(
        e, access, group.element, group.count, op.getOrdering());
    for (auto [result, value] : llvm::zip_equal(op.getValues(), values)) {
      e.Set(result, value);
    }
    return absl::OkStatus();
  }
  if (op.getOrdering() != Ordering::weak) {
    // The parts of a vector access are ordered one by one.
    for (uint64_t i = 0; i < group.count; ++i) {
      llvm::Value* part =
          StrongLoad(ir, group.element,
                     ElementPointer(ir, access.pointer, group, i),
                     op.getOrdering());
      e.Set(op.getValues()[i], ir.CreateBitCast(part, group.value));
    }
    return absl::OkStatus();
  }
  llvm::LoadInst* load =
      ir.CreateAlignedLoad(GroupType(group), access.pointer, access.align);
  MarkInvariant(load, op.getSpace());
  e.hooks().DecorateLoad(load, op);
  for (uint64_t i = 0; i < group.count; ++i) {
    llvm::Value* part =
        group.count == 1
            ? static_cast<llvm::Value*>(load)
            : ir.CreateExtractElement(load, i);
    e.Set(op.getValues()[i], ir.CreateBitCast(part, group.value));
  }
  return absl::OkStatus();
}

absl::Status EmitStore(Emitter& e, StoreOp op) {
  Ir& ir = e.ir();
  bool lanes = HasLanes(op.getAddress(), op.getIndex());
  Group group =
      GroupOf(e, op.getValues().front(), op.getValues().size(), lanes);
  Access access = EmitAccess(e, RequestOf(op, group.bytes));
  llvm::SmallVector<llvm::Value*> values;
  for (mlir::Value value : op.getValues()) values.push_back(e.Get(value));
  if (lanes) {
    StoreLanes(e, access, values, op.getOrdering());
    return absl::OkStatus();
  }
  if (op.getMask()) return ErrorAt(op, "mask on an access of one address");
  llvm::Value* whole = nullptr;
  for (uint64_t i = 0; i < group.count; ++i) {
    llvm::Value* part = ir.CreateBitCast(values[i], group.element);
    if (op.getOrdering() != Ordering::weak) {
      StrongStore(ir, part, ElementPointer(ir, access.pointer, group, i),
                  op.getOrdering());
    } else if (group.count == 1) {
      whole = part;
    } else {
      if (!whole) whole = llvm::PoisonValue::get(GroupType(group));
      whole = ir.CreateInsertElement(whole, part, i);
    }
  }
  if (whole) ir.CreateAlignedStore(whole, access.pointer, access.align);
  return absl::OkStatus();
}

absl::Status EmitFence(Emitter& e, FenceOp op) {
  switch (op.getOrdering()) {
    case Ordering::weak:
    case Ordering::relaxed:
    case Ordering::volatile_:
      return ErrorAt(op, "expected acquire, release, acq_rel or sc");
    default:
      e.ir().CreateFence(RmwOrdering(op.getOrdering()));
      return absl::OkStatus();
  }
}

// Only spaces whose addresses are pointers are worth the hint.
absl::Status EmitPrefetch(Emitter& e, PrefetchOp op) {
  if (mlir::isa<mlir::VectorType>(op.getAddress().getType()) ||
      e.hooks().SpaceBase(e, op.getSpace())) {
    return absl::OkStatus();
  }
  Ir& ir = e.ir();
  llvm::Value* address = ir.CreateAdd(
      e.Get(op.getAddress()),
      llvm::ConstantInt::getSigned(e.TypeOf(op.getAddress()),
                                   op.getOffset()));
  llvm::Value* pointer = ir.CreateIntToPtr(address, ir.getPtrTy());
  ir.CreateIntrinsic(llvm::Intrinsic::prefetch, {pointer->getType()},
                     {pointer, ir.getInt32(0), ir.getInt32(3),
                      ir.getInt32(1)});
  return absl::OkStatus();
}

llvm::Value* EmitDataAddress(Emitter& e, DataAddressOp op) {
  return e.hooks().DataAddress(e, op);
}
llvm::Value* EmitSharedAddress(Emitter& e, SharedAddressOp op) {
  return e.hooks().SharedAddress(e, op);
}
llvm::Value* EmitToGeneric(Emitter& e, ToGenericOp op) {
  return e.hooks().ToGeneric(e, op);
}
llvm::Value* EmitFromGeneric(Emitter& e, FromGenericOp op) {
  return e.hooks().FromGeneric(e, op);
}
llvm::Value* EmitIsSpace(Emitter& e, IsSpaceOp op) {
  return e.hooks().IsSpace(e, op);
}

// An array of the frame; as a vector, one array a lane, one after the other.
llvm::Value* EmitLocalAlloc(Emitter& e, LocalAllocOp op) {
  Ir& ir = e.ir();
  llvm::Type* result = e.TypeOf(op.getResult());
  auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(result);
  uint64_t align = std::max<uint64_t>(op.getAlign(), 8);
  uint64_t stride = llvm::alignTo(op.getSize(), align);
  uint64_t lanes = vector ? vector->getNumElements() : 1;
  llvm::BasicBlock& entry = e.function()->getEntryBlock();
  llvm::AllocaInst* array;
  {
    llvm::IRBuilderBase::InsertPointGuard guard(ir);
    ir.SetInsertPoint(&entry, entry.begin());
    array = ir.CreateAlloca(
        llvm::ArrayType::get(ir.getInt8Ty(), stride * lanes));
    array->setAlignment(llvm::Align(align));
  }
  llvm::Value* address = e.hooks().LocalAddress(e, array);
  if (!vector) return address;
  llvm::SmallVector<uint64_t> offsets;
  for (uint64_t lane = 0; lane < lanes; ++lane) {
    offsets.push_back(lane * stride);
  }
  return ir.CreateAdd(ir.CreateVectorSplat(lanes, address),
                      llvm::ConstantDataVector::get(e.context(), offsets));
}

// Emitted where it stands: run again, it makes another array.
llvm::Value* EmitStackAlloc(Emitter& e, hetir::StackAllocOp op) {
  Ir& ir = e.ir();
  llvm::AllocaInst* array =
      ir.CreateAlloca(ir.getInt8Ty(), e.Get(op.getBytes()));
  array->setAlignment(llvm::Align(std::max<uint64_t>(op.getAlign(), 8)));
  return e.hooks().LocalAddress(e, array);
}

llvm::Value* EmitStackSave(Emitter& e, hetir::StackSaveOp) {
  return e.ir().CreatePtrToInt(e.ir().CreateStackSave(), e.ir().getInt64Ty());
}

absl::Status EmitStackRestore(Emitter& e, hetir::StackRestoreOp op) {
  Ir& ir = e.ir();
  ir.CreateStackRestore(
      ir.CreateIntToPtr(e.Get(op.getSaved()), ir.getPtrTy()));
  return absl::OkStatus();
}

}  // namespace

void AddMemoryOps(OpTable& table) {
  table.Statement<LoadOp, EmitLoad>();
  table.Statement<StoreOp, EmitStore>();
  table.Statement<FenceOp, EmitFence>();
  table.Statement<PrefetchOp, EmitPrefetch>();
  table.Value<DataAddressOp, EmitDataAddress>();
  table.Value<SharedAddressOp, EmitSharedAddress>();
  table.Value<LocalAllocOp, EmitLocalAlloc>();
  table.Value<hetir::StackAllocOp, EmitStackAlloc>();
  table.Value<hetir::StackSaveOp, EmitStackSave>();
  table.Statement<hetir::StackRestoreOp, EmitStackRestore>();
  table.Value<ToGenericOp, EmitToGeneric>();
  table.Value<FromGenericOp, EmitFromGeneric>();
  table.Value<IsSpaceOp, EmitIsSpace>();
}

}  // namespace hetgpu::llvm_ir
