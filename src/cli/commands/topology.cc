// SPDX-License-Identifier: MIT
// tacos topology: list what can be made, show a network, convert it to a file.
#include "tacos/topology.h"

#include <algorithm>
#include <map>
#include <memory>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/files/file.h"
#include "base/text/quantity.h"
#include "cli/command.h"
#include "cli/options.h"
#include "cli/task.h"

namespace tacos::cli {
namespace {

struct TopologyArguments {
  std::string topology;
  ImportOptions import;
  std::vector<std::string> failures;
  std::string output;
  bool json = false;
};

ExitCode run_list() {
  std::size_t width = 0;
  for (const TopologyKind& kind : topology_kinds()) {
    width = std::max(width, kind.form.size());
  }
  emit(stdout,
       "Networks by name: KIND:DIMS[,bw=...][,lat=...], blocks joined by '*' multiply.\n\n");
  for (const TopologyKind& kind : topology_kinds()) {
    emit(stdout, "  {:<{}}  {}\n", kind.form, width, kind.description);
  }
  emit(
      stdout,
      "\nbw and lat take one value or one per dimension joined by '/': "
      "mesh:8x8,bw=50GBps/100GBps.\n"
      "gap likewise: what a message costs a link beyond its bytes, under the pipelined model.\n"
      "Defaults: bw=50GBps, lat=0.5us, gap=0. unwind=D replaces every switch by D links per port.\n"
      "forward=yes lets routes pass NPUs, as if they had routers.\n"
      "A file describes any other network, in one of these formats (--from):\n\n");
  for (const ImportFormat& format : import_formats()) {
    emit(stdout, "  {:<{}}  {}\n", format.name, width, format.description);
  }
  return ExitCode::kGood;
}

std::string degree_range(const Topology& topology, bool out) {
  std::size_t least = topology.num_links();
  std::size_t most = 0;
  for (std::uint32_t npu = 0; npu < topology.num_npus(); ++npu) {
    const NodeId node(npu);
    const std::size_t degree =
        out ? topology.out_links(node).size() : topology.in_links(node).size();
    least = std::min(least, degree);
    most = std::max(most, degree);
  }
  return least == most ? fmt::format("{}", most) : fmt::format("{} to {}", least, most);
}

void print_summary(const Topology& topology) {
  emit(stdout,
       "{}: {} NPUs, {} switches, {} links\n\n",
       printable(topology.name()),
       format_count(topology.num_npus()),
       format_count(topology.num_switches()),
       format_count(topology.num_working_links()));
  std::map<std::tuple<Bandwidth, Ticks, Ticks>, std::uint64_t> kinds;
  for (const Link& link : topology.links()) {
    ++kinds[{link.bandwidth, link.latency, link.gap}];
  }
  Table table;
  table.add("links out of an NPU", degree_range(topology, true));
  table.add("links into an NPU", degree_range(topology, false));
  if (const std::uint32_t failed = topology.num_links() - topology.num_working_links();
      failed > 0) {
    table.add("failed links", format_count(failed));
  }
  constexpr std::size_t kMostKinds = 12;
  std::size_t shown = 0;
  for (const auto& [kind, count] : kinds) {
    if (++shown > kMostKinds) {
      table.add("...", fmt::format("{} more kinds of link", kinds.size() - kMostKinds));
      break;
    }
    table.add(fmt::format("{} links", format_count(count)),
              fmt::format("{}, {}{}",
                          format_bandwidth(std::get<0>(kind)),
                          format_time(std::get<1>(kind)),
                          std::get<2>(kind) == Ticks{}
                              ? std::string()
                              : fmt::format(", gap {}", format_time(std::get<2>(kind)))));
  }
  table.print(stdout);
}

ExitCode run_show(const TopologyArguments& arguments) {
  const Result<DegradedTopology> loaded =
      load_degraded(arguments.topology, arguments.failures, arguments.import);
  if (!loaded) {
    return fail(loaded.error());
  }
  const Topology& topology = loaded->topology;
  if (arguments.json) {
    emit(stdout, "{}", topology_to_json(topology));
  } else {
    print_summary(topology);
  }
  return ExitCode::kGood;
}

ExitCode run_convert(const TopologyArguments& arguments) {
  const Result<FileTarget> target = find_target(arguments.output);
  const Status writable = target ? check_writable(*target) : Status(target.error());
  if (!writable) {
    return fail(writable.error());
  }
  const Result<DegradedTopology> loaded =
      load_degraded(arguments.topology, arguments.failures, arguments.import);
  if (!loaded) {
    return fail(loaded.error());
  }
  const Status written = write_text_file(arguments.output, topology_to_json(loaded->topology));
  return written ? ExitCode::kGood : fail(written.error());
}

}  // namespace

void add_topology_command(CLI::App& app, ExitCode& code) {
  auto arguments = std::make_shared<TopologyArguments>();
  CLI::App* command = app.add_subcommand("topology", "List, show and convert networks");
  command->require_subcommand(1);
  CLI::App* list = command->add_subcommand("list", "The networks that can be made by name");
  list->callback([&code] { code = run_list(); });
  CLI::App* show = command->add_subcommand("show", "Counts, degrees and links of a network");
  show->add_option("TOPOLOGY", arguments->topology, "a spec or a file")->required();
  add_import_options(*show, arguments->import);
  add_fail_option(*show, arguments->failures);
  add_switch(*show, "--json", arguments->json, "print the network as a topology file");
  show->callback([arguments, &code] { code = run_show(*arguments); });
  CLI::App* convert = command->add_subcommand("convert", "Write a network as a topology file");
  convert->add_option("IN", arguments->topology, "a spec or a file")->required();
  add_import_options(*convert, arguments->import);
  add_fail_option(*convert, arguments->failures);
  require_value(
      convert->add_option("-o,--output", arguments->output, "the file to write; '-' is stdout")
          ->required());
  convert->callback([arguments, &code] { code = run_convert(*arguments); });
}

}  // namespace tacos::cli
