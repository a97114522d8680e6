#include "backends/cpu/compile/entry.h"

#include "backends/cpu/compile/block_context.h"
#include "backends/llvm_ir/ir_util.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Module.h"

namespace hetgpu::cpu {
namespace {

using llvm_ir::Binary;
using llvm_ir::Ir;

class EntryBuilder {
 public:
  EntryBuilder(llvm::Function* kernel, llvm::Function* entry)
      : kernel_(kernel),
        entry_(entry),
        ir_(entry->getContext()),
        i32_(ir_.getInt32Ty()),
        block_(entry->getArg(0)),
        first_(entry->getArg(1)),
        count_(entry->getArg(2)) {
    ir_.SetInsertPoint(NewBlock());
    if (llvm::DISubprogram* scope = entry->getSubprogram()) {
      ir_.SetCurrentDebugLocation(
          llvm::DILocation::get(entry->getContext(), 0, 0, scope));
    }
    size_x_ = Size(0);
    size_y_ = Size(1);
  }

  void RunOneThread() {
    Call(Divide(first_), first_);
    ir_.CreateRetVoid();
  }

  // for (row starts at `unit`) for (x…) body(x, y, z)
  void RunThreads() {
    Index start = Divide(first_);
    llvm::Value* end = ir_.CreateAdd(first_, count_);
    llvm::BasicBlock* before = ir_.GetInsertBlock();
    llvm::BasicBlock* row = NewBlock();
    llvm::BasicBlock* thread = NewBlock();
    llvm::BasicBlock* row_end = NewBlock();
    llvm::BasicBlock* done = NewBlock();
    ir_.CreateCondBr(ir_.CreateICmpEQ(count_, ir_.getInt32(0)), done, row);

    ir_.SetInsertPoint(row);
    llvm::PHINode* unit = ir_.CreatePHI(i32_, 2);
    llvm::PHINode* x = ir_.CreatePHI(i32_, 2);
    llvm::PHINode* y = ir_.CreatePHI(i32_, 2);
    llvm::PHINode* z = ir_.CreatePHI(i32_, 2);
    unit->addIncoming(first_, before);
    x->addIncoming(start.x, before);
    y->addIncoming(start.y, before);
    z->addIncoming(start.z, before);
    llvm::Value* length =
        Binary(ir_, llvm::Intrinsic::umin, ir_.CreateSub(size_x_, x),
               ir_.CreateSub(end, unit));
    ir_.CreateBr(thread);

    ir_.SetInsertPoint(thread);
    llvm::PHINode* i = ir_.CreatePHI(i32_, 2);
    i->addIncoming(ir_.getInt32(0), row);
    Call({ir_.CreateAdd(x, i), y, z}, ir_.CreateAdd(unit, i));
    llvm::Value* next = ir_.CreateAdd(i, ir_.getInt32(1));
    i->addIncoming(next, ir_.GetInsertBlock());
    ir_.CreateCondBr(ir_.CreateICmpULT(next, length), thread, row_end);

    ir_.SetInsertPoint(row_end);
    llvm::Value* next_unit = ir_.CreateAdd(unit, length);
    llvm::Value* next_y = ir_.CreateAdd(y, ir_.getInt32(1));
    llvm::Value* wrap = ir_.CreateICmpEQ(next_y, size_y_);
    unit->addIncoming(next_unit, row_end);
    x->addIncoming(ir_.getInt32(0), row_end);
    y->addIncoming(ir_.CreateSelect(wrap, ir_.getInt32(0), next_y), row_end);
    z->addIncoming(ir_.CreateAdd(z, ir_.CreateZExt(wrap, i32_)), row_end);
    ir_.CreateCondBr(ir_.CreateICmpULT(next_unit, end), row, done);
    ir_.SetInsertPoint(done);
    ir_.CreateRetVoid();
  }

  void RunWarps() {
    llvm::Value* end = ir_.CreateAdd(first_, count_);
    // Threads are fewer than 2^10 (plus a warp's tail): a quotient by n is
    // then exact as a product with ceil(2^20 / n).
    llvm::Value* inverse_x = Inverse(size_x_);
    llvm::Value* inverse_y = Inverse(size_y_);
    llvm::BasicBlock* before = ir_.GetInsertBlock();
    llvm::BasicBlock* warp = NewBlock();
    llvm::BasicBlock* done = NewBlock();
    ir_.CreateCondBr(ir_.CreateICmpEQ(count_, ir_.getInt32(0)), done, warp);
    ir_.SetInsertPoint(warp);
    llvm::PHINode* unit = ir_.CreatePHI(i32_, 2);
    unit->addIncoming(first_, before);
    llvm::SmallVector<uint32_t> lanes;
    for (uint32_t lane = 0; lane < kWarpSize; ++lane) lanes.push_back(lane);
    llvm::Value* first = ir_.CreateShl(unit, 5);
    llvm::Value* thread = ir_.CreateAdd(
        Splat(first),
        llvm::ConstantDataVector::get(entry_->getContext(), lanes));
    auto index_of = [&](llvm::Value* t, auto shape) {
      llvm::Value* row = Quotient(t, shape(inverse_x));
      llvm::Value* plane = Quotient(row, shape(inverse_y));
      return Index{
          ir_.CreateSub(t, ir_.CreateMul(row, shape(size_x_))),
          ir_.CreateSub(row, ir_.CreateMul(plane, shape(size_y_))), plane};
    };
    auto scalar = [](llvm::Value* value) { return value; };
    Index all = index_of(thread, [&](llvm::Value* v) { return Splat(v); });
    Index low = index_of(first, scalar);
    Index high = index_of(
        ir_.CreateAdd(first, ir_.getInt32(kWarpSize / 2)), scalar);
    Call(all, unit, {low.x, low.y, low.z, high.x, high.y, high.z});
    llvm::Value* next = ir_.CreateAdd(unit, ir_.getInt32(1));
    unit->addIncoming(next, ir_.GetInsertBlock());
    llvm::BranchInst* again =
        ir_.CreateCondBr(ir_.CreateICmpULT(next, end), warp, done);
    again->setMetadata(llvm::LLVMContext::MD_loop, NotUnrolled());
    ir_.SetInsertPoint(done);
    ir_.CreateRetVoid();
  }

 private:
  struct Index {
    llvm::Value* x;
    llvm::Value* y;
    llvm::Value* z;
  };

  llvm::BasicBlock* NewBlock() {
    return llvm::BasicBlock::Create(entry_->getContext(), "", entry_);
  }
  // A warp is more than enough work for an iteration: not even the cost of
  // unrolling is worth computing.
  llvm::MDNode* NotUnrolled() {
    llvm::LLVMContext& context = entry_->getContext();
    auto* disable = llvm::MDNode::get(
        context, llvm::MDString::get(context, "llvm.loop.unroll.disable"));
    llvm::MDNode* loop = llvm::MDNode::getDistinct(context, {nullptr, disable});
    loop->replaceOperandWith(0, loop);
    return loop;
  }
  llvm::Value* Size(unsigned axis) {
    return LoadField(ir_, block_,
                     offsetof(BlockContext, ntid) + axis * sizeof(uint32_t),
                     i32_);
  }
  llvm::Value* Splat(llvm::Value* value) {
    return ir_.CreateVectorSplat(kWarpSize, value);
  }
  // Sizes are at least one.
  Index Divide(llvm::Value* unit) {
    llvm::Value* row = ir_.CreateUDiv(unit, size_x_);
    return {ir_.CreateURem(unit, size_x_), ir_.CreateURem(row, size_y_),
            ir_.CreateUDiv(row, size_y_)};
  }
  llvm::Value* Inverse(llvm::Value* n) {
    llvm::Value* up = ir_.CreateAdd(ir_.getInt32((1u << 20) - 1), n);
    return ir_.CreateUDiv(up, n);
  }
  llvm::Value* Quotient(llvm::Value* n, llvm::Value* inverse) {
    return ir_.CreateLShr(ir_.CreateMul(n, inverse), 20);
  }
  void Call(Index index, llvm::Value* unit,
            llvm::ArrayRef<llvm::Value*> more = {}) {
    StoreCurrentUnit(ir_, block_, unit);
    llvm::SmallVector<llvm::Value*> arguments = {block_, index.x, index.y,
                                                 index.z, unit};
    arguments.append(more.begin(), more.end());
    Run(arguments);
  }

  // The kernel's blocks become those of the entry, here. This is inlining
  // without the copy, of which a large kernel takes milliseconds.
  void Run(llvm::ArrayRef<llvm::Value*> arguments) {
    for (auto [parameter, argument] :
         llvm::zip_equal(kernel_->args(), arguments)) {
      parameter.replaceAllUsesWith(argument);
    }
    llvm::BasicBlock* body = &kernel_->getEntryBlock();
    llvm::BasicBlock* after = NewBlock();
    for (llvm::BasicBlock& block : *kernel_) {
      auto* end = llvm::dyn_cast<llvm::ReturnInst>(block.getTerminator());
      if (!end) continue;
      llvm::BranchInst* leave = llvm::BranchInst::Create(after, end);
      leave->setDebugLoc(end->getDebugLoc());
      end->eraseFromParent();
    }
    const bool grows = GrowsStack(*kernel_);
    entry_->splice(after->getIterator(), kernel_);
    llvm::SmallVector<llvm::AllocaInst*> arrays = TakeArrays(*body);
    for (llvm::AllocaInst* array : arrays) ir_.CreateLifetimeStart(array);
    // What a unit makes at run time is given back before the next one.
    llvm::Value* saved = grows ? ir_.CreateStackSave() : nullptr;
    ir_.CreateBr(body);
    ir_.SetInsertPoint(after);
    if (saved) ir_.CreateStackRestore(saved);
    for (llvm::AllocaInst* array : arrays) ir_.CreateLifetimeEnd(array);
  }

  static bool IsArray(const llvm::Instruction& instruction) {
    auto* array = llvm::dyn_cast<llvm::AllocaInst>(&instruction);
    return array && llvm::isa<llvm::ConstantInt>(array->getArraySize());
  }

  // Whether arrays are made where they stand, perhaps again and again.
  static bool GrowsStack(const llvm::Function& function) {
    for (const llvm::BasicBlock& block : function) {
      for (const llvm::Instruction& instruction : block) {
        if (!llvm::isa<llvm::AllocaInst>(instruction)) continue;
        if (!block.isEntryBlock() || !IsArray(instruction)) return true;
      }
    }
    return false;
  }

  // Moves local arrays out of the loop over units, to where frames are made.
  llvm::SmallVector<llvm::AllocaInst*> TakeArrays(llvm::BasicBlock& body) {
    llvm::SmallVector<llvm::AllocaInst*> arrays;
    for (llvm::Instruction& instruction : body) {
      if (!IsArray(instruction)) continue;
      arrays.push_back(llvm::cast<llvm::AllocaInst>(&instruction));
    }
    llvm::BasicBlock& first = entry_->getEntryBlock();
    for (llvm::AllocaInst* array : arrays) {
      array->moveBefore(first, first.begin());
    }
    return arrays;
  }

  llvm::Function* kernel_;
  llvm::Function* entry_;
  Ir ir_;
  llvm::Type* i32_;
  llvm::Value* block_;
  llvm::Value* first_;
  llvm::Value* count_;
  llvm::Value* size_x_;
  llvm::Value* size_y_;
};

}  // namespace

llvm::Function* BuildEntry(llvm::Function* kernel, unsigned lanes,
                           bool needs_fibers) {
  llvm::Module* module = kernel->getParent();
  llvm::LLVMContext& context = module->getContext();
  llvm::Type* i32 = llvm::Type::getInt32Ty(context);
  auto* type = llvm::FunctionType::get(
      llvm::Type::getVoidTy(context),
      {llvm::PointerType::getUnqual(context), i32, i32}, false);
  auto* entry = llvm::Function::Create(type, llvm::Function::ExternalLinkage,
                                       kEntryName, *module);
  entry->setVisibility(llvm::GlobalValue::HiddenVisibility);
  entry->setDSOLocal(true);
  entry->addFnAttr(llvm::Attribute::NoUnwind);
  llvm::AttrBuilder block_attributes(
      context, kernel->getAttributes().getParamAttrs(0));
  entry->getArg(0)->addAttrs(block_attributes);
  entry->setSubprogram(kernel->getSubprogram());
  kernel->setSubprogram(nullptr);
  EntryBuilder builder(kernel, entry);
  if (lanes != 1) {
    builder.RunWarps();
  } else if (needs_fibers) {
    builder.RunOneThread();
  } else {
    builder.RunThreads();
  }
  kernel->eraseFromParent();
  return entry;
}

}  // namespace hetgpu::cpu
