#include "tools/common/completion.h"

#include "tools/common/text.h"

namespace hetgpu::tools {
namespace {

using Options = std::vector<CompletionOption>;
using Words = std::vector<std::string>;

// A name usable in shell functions: "hetgpu-run" → "hetgpu_run".
std::string Identifier(std::string_view tool) {
  std::string name(tool);
  for (char& c : name) {
    if (c == '-') c = '_';
  }
  return name;
}

// The first line without what would end a quoted word.
std::string Summary(std::string_view help) {
  std::string text(help.substr(0, help.find('\n')));
  std::erase_if(text, [](char c) {
    return c == '\'' || c == '[' || c == ']' || c == ':' || c == '"';
  });
  return text;
}

std::string Bash(std::string_view tool, const Options& options,
                 const Words& words) {
  std::string names, cases;
  for (const CompletionOption& option : options) {
    names += (names.empty() ? "" : " ") + option.name;
    if (option.choices.empty()) continue;
    cases += Cat("    ", option.name, ") COMPREPLY=($(compgen -W \"",
                 Join(option.choices, " "), "\" -- \"$word\")); return ;;\n");
  }
  const std::string id = Identifier(tool);
  return Cat("# bash completion for ", tool, "\n_", id, "() {\n",
             "  local word=${COMP_WORDS[COMP_CWORD]}\n",
             "  local previous=${COMP_WORDS[COMP_CWORD-1]}\n",
             "  case \"$previous\" in\n", cases, "    *) ;;\n  esac\n",
             "  case \"$word\" in\n", "    -*) COMPREPLY=($(compgen -W \"",
             names, "\" -- \"$word\")) ;;\n",
             words.empty()
                 ? std::string("    *) COMPREPLY=($(compgen -f -- \"$word\"))")
                 : Cat("    *) COMPREPLY=($(compgen -W \"", Join(words, " "),
                       "\" -- \"$word\"))"),
             " ;;\n  esac\n}\ncomplete -o filenames -F _", id, " ", tool, "\n");
}

std::string Zsh(std::string_view tool, const Options& options,
                const Words& words) {
  std::string text = Cat("#compdef ", tool, "\n_arguments -s \\\n");
  for (const CompletionOption& option : options) {
    text += Cat("  '*", option.name, option.takes_value ? "=" : "", "[",
                Summary(option.help), "]");
    if (!option.choices.empty()) {
      text += Cat(":value:(", Join(option.choices, " "), ")");
    } else if (option.takes_value) {
      text += ":value:_files";
    }
    text += "' \\\n";
  }
  return text + (words.empty()
                     ? std::string("  '*:file:_files'\n")
                     : Cat("  '1:command:(", Join(words, " "), ")'\n"));
}

std::string Fish(std::string_view tool, const Options& options,
                 const Words& words) {
  std::string text = Cat("# fish completion for ", tool, "\n");
  for (const CompletionOption& option : options) {
    text += Cat("complete -c ", tool, " -l ", option.name.substr(2),
                option.takes_value ? " -r" : "", " -d '", Summary(option.help),
                "'");
    if (!option.choices.empty()) {
      text += Cat(" -f -a '", Join(option.choices, " "), "'");
    }
    text += "\n";
  }
  if (!words.empty()) {
    text += Cat("complete -c ", tool, " -f -n __fish_use_subcommand -a '",
                Join(words, " "), "'\n");
  }
  return text;
}

}  // namespace

absl::StatusOr<std::string> MakeCompletion(std::string_view shell,
                                           std::string_view tool,
                                           const Options& options,
                                           const Words& words) {
  if (shell == "bash") return Bash(tool, options, words);
  if (shell == "zsh") return Zsh(tool, options, words);
  if (shell == "fish") return Fish(tool, options, words);
  return absl::InvalidArgumentError(
      Cat("no completion for '", shell, "', expected bash, zsh or fish"));
}

}  // namespace hetgpu::tools
