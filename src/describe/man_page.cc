// SPDX-License-Identifier: MIT
#include "describe/man_page.h"

#include <fmt/format.h>

namespace tacos::describe {
namespace {

/// As it is to be printed: hyphens that can be copied, no line that looks like a request.
std::string escaped(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    switch (c) {
      case '\\':
        safe += "\\e";
        break;
      case '-':
        safe += "\\-";
        break;
      case '\'':
        safe += "\\(aq";
        break;
      default:
        safe += c;
    }
  }
  return safe.starts_with('.') ? "\\&" + safe : safe;
}

std::string synopsis(const Command& command) {
  std::string line = fmt::format(".B {}\n", escaped(joined(command.path, " ")));
  for (const Option& option : command.options) {
    if (option.positional) {
      line += fmt::format(".I {}\n", escaped(option.names.front()));
    }
  }
  return line + "[\\fIOPTION\\fR]...\n";
}

std::string option_text(const Option& option) {
  // A tag is one line of the page; more choices than fit into it are named below.
  constexpr std::size_t kLongestTag = 50;
  const std::string choices = joined(option.choices, "|");
  const bool below = choices.size() > kLongestTag;
  const std::string value = !option.takes_value || option.positional ? ""
                            : choices.empty() || below               ? " \\fIVALUE\\fR"
                                                                     : " " + escaped(choices);
  const std::string named = below ? "; one of " + joined(option.choices, ", ") : "";
  return fmt::format(".TP\n\\fB{}\\fR{}\n{}\n",
                     escaped(joined(option.names, ", ")),
                     value,
                     escaped(option.description + named));
}

/// Commands that run something, depth first.
template <class Visit>
void for_each_leaf(const Command& command, const Visit& visit) {
  if (command.commands.empty()) {
    visit(command);
  }
  for (const Command& sub : command.commands) {
    for_each_leaf(sub, visit);
  }
}

}  // namespace

std::string man_page(const Command& program, std::string_view version) {
  std::string name;
  for (const char c : program.path.front()) {
    name += static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
  }
  std::string_view summary = program.description;
  summary.remove_suffix(summary.ends_with('.') ? 1 : 0);
  std::string page =
      fmt::format(".TH {} 1 \"\" \"tacos {}\" \"User Commands\"\n.SH NAME\n{} \\- {}\n",
                  escaped(name),
                  version,
                  escaped(program.path.front()),
                  escaped(summary));
  page += ".SH SYNOPSIS\n";
  for_each_leaf(program, [&](const Command& command) { page += synopsis(command) + ".br\n"; });
  page += ".SH COMMANDS\n";
  for_each_leaf(program, [&](const Command& command) {
    page += fmt::format(
        ".SS {}\n{}.\n", escaped(joined(command.path, " ")), escaped(command.description));
    for (const Option& option : command.options) {
      page += option_text(option);
    }
  });
  page += R"(.SH EXIT STATUS
.TP
0
good
.TP
1
internal error, or output that could not be written
.TP
2
wrong usage
.TP
3
bad input: a network, collective, size or file that cannot be used
.TP
4
no schedule exists
.TP
5
verification failed
)";
  return page;
}

}  // namespace tacos::describe
