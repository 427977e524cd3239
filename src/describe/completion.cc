// SPDX-License-Identifier: MIT
// Each shell is told the same: after which commands which words may come. Values that are no list
// are files, since specs and numbers cannot be guessed.
#include "describe/completion.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

namespace tacos::describe {
namespace {

std::string function_name(const Command& program) {
  std::string name = "_" + program.path.front();
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

/// In single quotes.
std::string in_quotes(std::string_view text) {
  std::string safe = "'";
  for (const char c : text) {
    safe += c == '\'' ? "'\\''" : std::string(1, c);
  }
  return safe + "'";
}

template <class Visit>
void for_each(const Command& command, const Visit& visit) {
  visit(command);
  for (const Command& sub : command.commands) {
    for_each(sub, visit);
  }
}

std::vector<std::string> words_after(const Command& command) {
  std::vector<std::string> words;
  for (const Command& sub : command.commands) {
    words.push_back(sub.path.back());
  }
  for (const Option& option : command.options) {
    if (!option.positional) {
      words.insert(words.end(), option.names.begin(), option.names.end());
    }
  }
  return words;
}

/// Sets `place` to the commands among `arguments`, `next` to the words that may come there, and
/// where the argument before the cursor wants a value `value`, and `choices` if there is a list.
/// The same for bash and zsh.
std::string find_place(const Command& program,
                       std::string_view arguments,
                       std::string_view before) {
  std::string commands;
  std::string words;
  std::string values;
  for_each(program, [&](const Command& command) {
    const std::string place = joined(command.path, " ");
    if (command.path.size() > 1) {
      commands += fmt::format("      '{}') place='{}' ;;\n", place, place);
    }
    words += fmt::format("    '{}') next='{}' ;;\n", place, joined(words_after(command), " "));
    for (const Option& option : command.options) {
      if (option.positional || !option.takes_value) {
        continue;
      }
      for (const std::string& name : option.names) {
        values += fmt::format(
            "    '{} {}') value=yes choices='{}' ;;\n", place, name, joined(option.choices, " "));
      }
    }
  });
  return fmt::format(
      "  local place='{}' next='' value='' choices='' word\n"
      "  for word in {}; do\n"
      "    case \"$place $word\" in\n{}    esac\n"
      "  done\n"
      "  case $place in\n{}  esac\n"
      "  case \"$place {}\" in\n{}  esac\n",
      program.path.front(),
      arguments,
      commands,
      words,
      before,
      values);
}

}  // namespace

std::string bash_completion(const Command& program) {
  const std::string name = program.path.front();
  return fmt::format("# bash completion for {}\n{}() {{\n", name, function_name(program)) +
         find_place(
             program, R"("${COMP_WORDS[@]:1:COMP_CWORD-1}")", "${COMP_WORDS[COMP_CWORD-1]}") +
         R"(  COMPREPLY=()
  if [ -z "$value" ]; then
    choices=$next
  fi
  if [ -n "$choices" ]; then
    mapfile -t COMPREPLY < <(compgen -W "$choices" -- "${COMP_WORDS[COMP_CWORD]}")
  fi
}
)" + fmt::format("complete -o default -F {} {}\n", function_name(program), name);
}

std::string zsh_completion(const Command& program) {
  const std::string name = program.path.front();
  return fmt::format("#compdef {}\n# zsh completion for {}\n", name, name) +
         find_place(program, R"("${(@)words[2,CURRENT-1]}")", "${words[CURRENT-1]}") +
         R"(  if [[ -z $value ]]; then
    choices=$next
    _files
  elif [[ -z $choices ]]; then
    _files
  fi
  compadd -- ${=choices}
)";
}

std::string fish_completion(const Command& program) {
  const std::string name = program.path.front();
  std::string script = fmt::format("# fish completion for {}\n", name);
  for_each(program, [&](const Command& command) {
    std::string condition = "true";
    for (std::size_t i = 1; i < command.path.size(); ++i) {
      condition += "; and __fish_seen_subcommand_from " + command.path[i];
    }
    for (const Command& sub : command.commands) {
      script += fmt::format("complete -c {} -n {} -a {} -d {}\n",
                            name,
                            in_quotes(condition),
                            sub.path.back(),
                            in_quotes(sub.description));
    }
    for (const Option& option : command.options) {
      if (option.positional) {
        continue;
      }
      script += fmt::format("complete -c {} -n {}", name, in_quotes(condition));
      for (const std::string& one : option.names) {
        script += one.starts_with("--") ? " -l " + one.substr(2) : " -s " + one.substr(1);
      }
      script += option.takes_value ? " -r" : "";
      script += option.choices.empty() ? "" : " -f -a " + in_quotes(joined(option.choices, " "));
      script += " -d " + in_quotes(option.description) + "\n";
    }
  });
  return script;
}

}  // namespace tacos::describe
