// SPDX-License-Identifier: MIT
#include "cli/options.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "tacos/synthesize.h"

#include "base/text/quantity.h"
#include "base/text/suggest.h"

namespace tacos::cli {
namespace {

/// The command that the arguments chose, as far as they did, and how it is called.
struct Chosen {
  const CLI::App* command;
  std::string name;
};

Chosen chosen_command(const CLI::App& app) {
  Chosen chosen{.command = &app, .name = app.get_name()};
  while (!chosen.command->get_subcommands().empty()) {
    chosen.command = chosen.command->get_subcommands().front();
    chosen.name += " " + chosen.command->get_name();
  }
  return chosen;
}

/// "a, b, c".
template <class Names>
std::string joined(const Names& names, std::string_view separator) {
  std::string text;
  for (const auto& name : names) {
    text.append(text.empty() ? "" : separator).append(name);
  }
  return text;
}

std::string unknown(std::string_view what,
                    std::string_view name,
                    const std::vector<std::string>& known) {
  return unknown_name(what, name, std::vector<std::string_view>(known.begin(), known.end()));
}

std::string unknown_option(const CLI::App& command, const std::string& argument) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    if (!option->nonpositional()) {
      continue;
    }
    names.push_back(option->get_name());
  }
  return unknown("option", argument.substr(0, argument.find('=')), names);
}

/// Of the first argument that has no place, or of a place that has no argument.
std::string misplaced(const CLI::App& app, const CLI::App& command) {
  const std::vector<std::string> extras = app.remaining(true);
  const auto option = std::find_if(extras.begin(), extras.end(), [](const std::string& extra) {
    return extra.size() > 1 && extra.starts_with('-');
  });
  if (option != extras.end()) {
    return unknown_option(command, *option);
  }
  std::vector<std::string> commands;
  for (const CLI::App* one : command.get_subcommands({})) {
    commands.push_back(one->get_name());
  }
  if (!commands.empty()) {
    return extras.empty()
               ? fmt::format("a command is missing; known are {}", joined(commands, ", "))
               : unknown("command", extras.front(), commands);
  }
  for (const CLI::Option* place : command.get_options()) {
    if (place->get_required() && place->empty()) {
      return fmt::format("{} is missing", place->get_name());
    }
  }
  return extras.empty() ? "the arguments cannot be understood"
                        : fmt::format("'{}' is one argument too many", extras.front());
}

/// An option without its value, with one that it does not take, or a second time.
std::string mismatched(const CLI::App& command, std::string_view text) {
  // The name is all that the library's sentence has to tell.
  std::string name(text.substr(0, text.find_first_of(": ")));
  if (!name.starts_with('-')) {
    name.insert(0, "--");
  }
  const CLI::Option* const option = command.get_option_no_throw(name);
  if (option == nullptr) {
    return "the arguments cannot be understood";
  }
  return fmt::format("{} {}",
                     name,
                     option->get_items_expected_max() == 0 ? "takes no value"
                     : option->count() > 1                 ? "is given twice"
                                                           : "needs a value");
}

}  // namespace

CLI::Option* add_number(CLI::App& command,
                        const std::string& name,
                        Range range,
                        const std::string& description,
                        const std::function<void(std::uint64_t)>& set) {
  const auto read = [name, range, set](const std::string& text) {
    const Result<std::uint64_t> number = parse_whole(text, range.least, range.most);
    if (!number) {
      // Of few numbers both ends are worth saying, whichever was passed.
      constexpr std::uint64_t kFew = 100;
      throw CLI::ValidationError(
          name,
          range.most < kFew
              ? fmt::format(
                    "'{}' is not a whole number from {} to {}", text, range.least, range.most)
              : number.error().message);
    }
    set(*number);
  };
  return command.add_option_function<std::string>(name, read, description)->type_name("N");
}

void add_effort_option(CLI::App& command, int& effort) {
  add_number(command,
             "--effort",
             {kLeastEffort, kMostEffort},
             "1 takes the first good schedule, 9 tries all that ever paid",
             [&effort](std::uint64_t number) { effort = static_cast<int>(number); })
      ->default_str(fmt::format("{}", effort));
}

void add_threads_option(CLI::App& command, int& threads) {
  constexpr std::uint64_t kMostThreads = 1024;
  add_number(command,
             "--threads",
             {1, kMostThreads},
             "never changes the result",
             [&threads](std::uint64_t number) { threads = static_cast<int>(number); })
      ->default_str(fmt::format("{}", threads));
}

void add_seed_option(CLI::App& command, std::uint64_t& seed, const std::string& description) {
  add_number(command,
             "--seed",
             {0, std::numeric_limits<std::uint64_t>::max()},
             description,
             [&seed](std::uint64_t number) { seed = number; })
      ->default_str(fmt::format("{}", seed));
}

CLI::Option* add_choice(CLI::App& command,
                        const std::string& name,
                        std::string& value,
                        std::span<const std::string_view> choices,
                        std::string_view what,
                        const std::string& description) {
  const auto check = [choices, what](const std::string& text) {
    const bool known = std::find(choices.begin(), choices.end(), text) != choices.end();
    return known ? std::string() : unknown_name(what, text, choices);
  };
  return command.add_option(name, value, description)
      ->check(check)
      ->type_name(joined(choices, "|"))
      ->capture_default_str();
}

void add_transport_option(CLI::App& command, std::string& transport) {
  static constexpr std::array<std::string_view, 4> kTransports{"auto", "mpi", "shm", "tcp"};
  add_choice(command,
             "--transport",
             transport,
             kTransports,
             "transport",
             "of messages; auto is shm on a machine and mpi between them [auto]");
}

CLI::Option* add_switch(CLI::App& command,
                        const std::string& name,
                        bool& value,
                        const std::string& description) {
  return command.add_flag(name, value, description)->disable_flag_override();
}

void require_value(CLI::Option* option) {
  option->check(
      [](const std::string& text) { return std::string(text.empty() ? "needs a name" : ""); });
}

std::string usage_sentence(const CLI::App& app, const CLI::ParseError& error) {
  const Chosen chosen = chosen_command(app);
  const std::string_view text = error.what();
  const auto is = [&error](CLI::ExitCodes code) {
    return error.get_exit_code() == static_cast<int>(code);
  };
  // What failed a check of ours is told in our words already.
  const std::string sentence = is(CLI::ExitCodes::ValidationError) ? std::string(text)
                               : is(CLI::ExitCodes::ArgumentMismatch)
                                   ? mismatched(*chosen.command, text)
                                   : misplaced(app, *chosen.command);
  return sentence.ends_with('?')
             ? sentence
             : fmt::format("{}; '{} --help' lists what there is", sentence, chosen.name);
}

}  // namespace tacos::cli
