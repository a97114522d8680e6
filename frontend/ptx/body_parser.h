// Parses one { } body. Internal to frontend/ptx; see parse_body.cc (statements
// and directives), parse_instruction.cc (instructions and operands),
// parse_call.cc and parse_labels.cc.
#ifndef HETGPU_FRONTEND_PTX_BODY_PARSER_H_
#define HETGPU_FRONTEND_PTX_BODY_PARSER_H_

#include <string>
#include <string_view>
#include <vector>

#include "frontend/ptx/parse_context.h"

namespace hetgpu::ptx {

class BodyParser {
 public:
  BodyParser(ParseContext* context, Function* function, Body* body)
      : context_(*context),
        cursor_(context->cursor),
        function_(*function),
        body_(*body) {}

  // At '{'. Leaves the cursor behind the matching '}'.
  bool Parse();

 private:
  struct Scope {
    size_t names, ranges, labels;
  };
  // A label that was mentioned; one per name and scope.
  struct PendingLabel {
    std::string_view name;
    SourceLocation first_use;
    bool defined = false;
    uint32_t instruction = 0;
    uint32_t forward = kNone;  // the label of the outer scope it turned out
  };

  // parse_body.cc
  bool Statement();
  bool DirectiveStatement();
  bool DeclareFunctionNames();
  bool DeclareParameters(const std::vector<Variable>& parameters,
                         NameKind kind);
  bool RegisterStatement();
  bool DeclareRegisters(Type type, uint8_t vector);
  bool AddRegisters(std::string_view name, Type type, uint8_t vector,
                    bool ranged, uint64_t count, SourceLocation at);
  bool VariableStatement(StateSpace space);
  bool LocStatement();
  bool LocInlined(LineInfo* line);
  bool PragmaStatement();
  bool Declare(std::string_view name, NameEntry entry, SourceLocation at);
  bool PushScope();
  bool PopScope();
  uint16_t depth() const { return static_cast<uint16_t>(scopes_.size()); }

  // parse_labels.cc
  uint32_t MentionLabel(std::string_view name, SourceLocation at);
  bool DefineLabel(std::string_view name, SourceLocation at);
  bool LabelDirective(std::string_view name, SourceLocation at);
  bool TargetTableDirective(std::string_view name, bool calls);
  bool PrototypeDirective(std::string_view name);
  void CloseLabels(const Scope& inner, size_t outer_mark);
  bool FinishLabels();

  // parse_instruction.cc
  bool InstructionStatement(bool guarded);
  bool ReadGuard(Instruction* instruction);
  bool ReadOpcode(std::string_view* text);
  const CachedOpcode* Resolve(std::string_view text, SourceLocation at);
  bool OperandList(const CachedOpcode& cached);
  bool OneOperand(Operand* operand);
  bool LeafOperand(Operand* operand);
  bool NamedOperand(Operand* operand);
  bool RegisterOperand(const NameEntry& entry, uint32_t reg, SourceLocation at,
                       std::string_view name, Operand* operand);
  bool SpecialOperand(std::string_view name, SourceLocation at,
                      Operand* operand);
  bool SymbolOperand(const NameEntry& entry, SourceLocation at,
                     Operand* operand);
  bool ConstantOperand(Operand* operand);
  bool NegatedOperand(Operand* operand);
  bool VectorOperand(Operand* operand);
  bool PairOperand(Operand* operand);
  bool AddressOperand(Operand* operand);
  bool CompoundAddress(const Operand& base, Operand* operand);
  bool OffsetBehind(int64_t* value);
  void WholeVector(const NameEntry& entry, uint32_t first, Operand* operand);
  void AddChildren(size_t mark, Operand* parent);
  void FinishInstruction(const Opcode* opcode, Instruction* instruction);
  // The register `name` stands for; null when it is none.
  const NameEntry* FindRegister(std::string_view name, uint32_t* reg);
  const NameEntry* FindName(std::string_view name, uint32_t* reg);

  // parse_call.cc
  bool CallOperands();
  bool CallList(bool results, Operand* list);
  bool Callee(Operand* callee);
  bool CallTail();
  bool CheckCall(SourceLocation at);
  bool CheckCount(SourceLocation at, std::string_view what,
                  const std::vector<Variable>& declared, const Operand& written,
                  std::string_view callee);
  bool BranchTarget();
  bool BranchTable();

  ParseContext& context_;
  Cursor& cursor_;
  Function& function_;
  Body& body_;
  std::vector<Scope> scopes_;
  ScopedTable<NameEntry> ranges_;      // prefix of `.reg %r<9>`
  ScopedTable<char> digit_prefixes_;   // of exact names that end in digits
  bool ranges_overlap_ = false;        // exact names may hide range members
  ScopedTable<uint32_t> label_names_;  // into pending_labels_
  std::vector<PendingLabel> pending_labels_;
  std::vector<uint32_t> label_operands_;  // into body_.operands
  std::vector<Operand> top_;              // operands of this instruction
  std::vector<std::string_view> texts_;   // their spellings
  std::vector<Operand> scratch_;          // children being collected
  uint32_t loc_ = kNone;
};

}  // namespace hetgpu::ptx

#endif  // HETGPU_FRONTEND_PTX_BODY_PARSER_H_
