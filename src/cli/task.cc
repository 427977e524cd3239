// SPDX-License-Identifier: MIT
#include "cli/task.h"

#include <array>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/options.h"
#include "cli/terminal/streams.h"

namespace tacos::cli {

void add_fail_option(CLI::App& command, std::vector<std::string>& failures) {
  command
      .add_option("--fail", failures, "link:A-B, link:A>B, npu:A or slow:A-B=0.5; may be repeated")
      ->allow_extra_args(false);
}

void add_import_options(CLI::App& command, ImportOptions& import) {
  static const std::vector<std::string_view> names = [] {
    std::vector<std::string_view> all;
    for (const ImportFormat& format : import_formats()) {
      all.push_back(format.name);
    }
    return all;
  }();
  add_choice(command,
             "--from",
             import.from,
             names,
             "format",
             "the format of a topology file [what it looks like]")
      ->type_name("NAME");
  command
      .add_option("--latency",
                  import.latencies,
                  "KIND=TIME of links whose file does not say, such as pcie=0.4us; KIND is nvlink, "
                  "nvswitch, pcie, cpu, net or fabric; may be repeated")
      ->allow_extra_args(false);
}

void add_task_options(CLI::App& command, TaskArguments& arguments) {
  command.add_option("TOPOLOGY", arguments.topology, "a spec such as torus:8x8, or a file")
      ->required();
  add_import_options(command, arguments.import);
  command
      .add_option(
          "COLLECTIVE", arguments.words.collective, "all-gather, broadcast:ROOT, ..., or a file")
      ->required();
  command.add_option(
      "--size", arguments.words.size, fmt::format("the whole buffer [{}]", kDefaultSize));
  command.add_option(
      "--group", arguments.words.group, "the NPUs that take part, such as 0-3,8,9 [all]");
  add_fail_option(command, arguments.failures);
  add_switch(command,
             "--no-relay",
             arguments.words.no_relay,
             "only NPUs that take part, and switches, carry data");
}

void add_link_model_option(CLI::App& command, std::string& value) {
  static constexpr std::array<std::string_view, 2> kModels{"hold", "pipelined"};
  add_choice(command, "--link-model", value, kModels, "link model", "what a link is busy with");
}

LinkModel link_model_of(std::string_view name) {
  return name == to_string(LinkModel::kPipelined) ? LinkModel::kPipelined : LinkModel::kHold;
}

Result<DegradedTopology> load_degraded(const std::string& spec_or_file,
                                       const std::vector<std::string>& failures,
                                       const ImportOptions& import,
                                       Doubts doubts) {
  Result<ImportedTopology> whole = load_network(spec_or_file, import);
  if (!whole) {
    return whole.error();
  }
  if (doubts == Doubts::kTell) {
    for (const std::string& warning : whole->warnings) {
      complain("warning: " + warning);
    }
  }
  return apply_failures(std::move(whole->topology), failures);
}

Result<Task> load_task(const TaskArguments& arguments) {
  if (Status readable = check_words(arguments.words); !readable) {
    return readable.error();
  }
  Result<DegradedTopology> left =
      load_degraded(arguments.topology, arguments.failures, arguments.import, arguments.doubts);
  return left ? make_task(arguments.words, *std::move(left)) : left.error();
}

}  // namespace tacos::cli
