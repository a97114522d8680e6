// Internal to the grammar: rows of instructions.def in matchable form.
#ifndef HETGPU_FRONTEND_PTX_GRAMMAR_ROWS_H_
#define HETGPU_FRONTEND_PTX_GRAMMAR_ROWS_H_

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "frontend/ptx/grammar.h"
#include "frontend/ptx/modifiers.h"

namespace hetgpu::ptx {

// One modifier position of a row.
struct ModifierSlot {
  std::string_view name;  // class name, or the word itself
  bool optional = false;
  bool is_class = false;
  bool is_wgmma_shape = false;
  std::vector<std::string_view> words;

  bool Accepts(std::string_view word) const;
};

struct Row {
  std::vector<ModifierSlot> slots;
  size_t form = 0;  // index into Grammar::forms
};

struct Grammar {
  std::vector<Form> forms;
  // Rows by the part of the opcode before the first dot.
  std::unordered_map<std::string_view, std::vector<Row>> rows_by_base;
};

// Compiled once, on first use.
const Grammar& GetGrammar();

// Words of a shared class of instructions.def; empty when there is none.
std::vector<std::string_view> SharedClass(std::string_view name);

// Splits on single blanks, dropping leading dots: ".rn .rz" -> {"rn", "rz"}.
std::vector<std::string_view> SplitWords(std::string_view text);

}  // namespace hetgpu::ptx

#endif  // HETGPU_FRONTEND_PTX_GRAMMAR_ROWS_H_
