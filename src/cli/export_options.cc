// SPDX-License-Identifier: MIT
#include "cli/export_options.h"

#include <array>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

#include "cli/options.h"

namespace tacos::cli {
namespace {

constexpr std::array<std::string_view, 2> kYesOrNo{"yes", "no"};
constexpr std::array<std::string_view, 3> kProtocols{"Simple", "LL", "LL128"};

std::vector<std::string_view> format_names() {
  std::vector<std::string_view> names;
  names.reserve(export_formats().size());
  for (const ExportFormat& format : export_formats()) {
    names.push_back(format.name);
  }
  return names;
}

}  // namespace

CLI::Option* add_export_options(CLI::App& command,
                                ExportArguments& arguments,
                                const std::string& description) {
  static const std::vector<std::string_view> names = format_names();
  CLI::Option* format =
      add_choice(command, "--format", arguments.format, names, "format", description);
  add_choice(command,
             "--in-place",
             arguments.in_place,
             kYesOrNo,
             "answer",
             "whether input and output are the same memory [no]");
  add_choice(
      command, "--protocol", arguments.protocol, kProtocols, "protocol", "of the runtime [Simple]");
  add_switch(command,
             "--credits",
             arguments.credits,
             "receivers keep the order of senders that share a port");
  return format;
}

ExportOptions export_options(const ExportArguments& arguments) {
  return {.in_place = arguments.in_place == "yes",
          .protocol = arguments.protocol,
          .credits = arguments.credits};
}

}  // namespace tacos::cli
