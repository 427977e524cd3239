// SPDX-License-Identifier: MIT
// Options whose values are read and checked here, so that mistakes are told in our own words.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "cli/cli11.h"

namespace tacos::cli {

struct Range {
  std::uint64_t least = 0;
  std::uint64_t most = 0;
};

/// A whole decimal number; whoever has one that is not in range gets told.
CLI::Option* add_number(CLI::App& command,
                        const std::string& name,
                        Range range,
                        const std::string& description,
                        const std::function<void(std::uint64_t)>& set);

/// Adds --seed, of whatever `description` says; what is there already is the default.
void add_seed_option(CLI::App& command, std::uint64_t& seed, const std::string& description);

/// Adds --transport, of messages between ranks.
void add_transport_option(CLI::App& command, std::string& transport);

/// Adds --effort and --threads; what is there already is the default.
void add_effort_option(CLI::App& command, int& effort);
void add_threads_option(CLI::App& command, int& threads);

/// One of some names, which must outlive the command; `what` is what they are names of.
CLI::Option* add_choice(CLI::App& command,
                        const std::string& name,
                        std::string& value,
                        std::span<const std::string_view> choices,
                        std::string_view what,
                        const std::string& description);

/// Yes when it is there; takes no value.
CLI::Option* add_switch(CLI::App& command,
                        const std::string& name,
                        bool& value,
                        const std::string& description);

/// Refuses an empty value, such as that of a variable that was not set.
void require_value(CLI::Option* option);

/// What is wrong with the arguments, and where to look.
[[nodiscard]] std::string usage_sentence(const CLI::App& app, const CLI::ParseError& error);

}  // namespace tacos::cli
