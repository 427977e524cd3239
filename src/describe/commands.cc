// SPDX-License-Identifier: MIT
#include "describe/commands.h"

#include <string_view>
#include <utility>

namespace tacos::describe {
namespace {

/// "hold|pipelined" names choices, "TEXT" does not.
std::vector<std::string> choices_of(std::string_view type) {
  std::vector<std::string> choices;
  while (type.find('|') != std::string_view::npos || !choices.empty()) {
    const std::size_t bar = type.find('|');
    choices.emplace_back(type.substr(0, bar));
    if (bar == std::string_view::npos) {
      break;
    }
    type.remove_prefix(bar + 1);
  }
  return choices;
}

Option read_option(const CLI::Option& option) {
  Option read{.names = {},
              .positional = option.get_positional() && !option.nonpositional(),
              .takes_value = option.get_items_expected_max() > 0,
              .choices = choices_of(option.get_type_name()),
              .description = option.get_description()};
  for (const std::string& name : option.get_snames()) {
    read.names.push_back("-" + name);
  }
  for (const std::string& name : option.get_lnames()) {
    read.names.push_back("--" + name);
  }
  if (read.positional) {
    read.names.push_back(option.get_name(true));
  }
  if (!option.get_default_str().empty()) {
    read.description += " [" + option.get_default_str() + "]";
  }
  return read;
}

Command read_command(const CLI::App& app, std::vector<std::string> path) {
  path.push_back(app.get_name());
  Command read{
      .path = std::move(path), .description = app.get_description(), .options = {}, .commands = {}};
  for (const CLI::Option* option : app.get_options()) {
    read.options.push_back(read_option(*option));
  }
  for (const CLI::App* command : app.get_subcommands({})) {
    read.commands.push_back(read_command(*command, read.path));
  }
  return read;
}

}  // namespace

Command read_commands(const CLI::App& app) {
  return read_command(app, {});
}

std::string joined(const std::vector<std::string>& words, std::string_view separator) {
  std::string text;
  for (const std::string& word : words) {
    text.append(text.empty() ? "" : separator).append(word);
  }
  return text;
}

}  // namespace tacos::describe
