// SPDX-License-Identifier: MIT
// tacos topology: list what can be made, show a network, convert it to a file, make a cluster.
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
  ClusterOptions cluster;
  std::string nic_bandwidth;
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
  if (!topology.node_names().empty()) {
    table.add("NPUs",
              fmt::format("{} to {}",
                          printable(topology.node_name(NodeId(0))),
                          printable(topology.node_name(NodeId(topology.num_npus() - 1)))));
  }
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

/// Writes what `make` makes of the network, once it is known that it can be written.
template <class Make>
ExitCode write_network(const TopologyArguments& arguments, const Make& make) {
  const Result<FileTarget> target = find_target(arguments.output);
  const Status writable = target ? check_writable(*target) : Status(target.error());
  if (!writable) {
    return fail(writable.error());
  }
  Result<DegradedTopology> loaded =
      load_degraded(arguments.topology, arguments.failures, arguments.import);
  if (!loaded) {
    return fail(loaded.error());
  }
  const Result<Topology> made = make(std::move(loaded->topology));
  if (!made) {
    return fail(made.error());
  }
  const Status written = write_text_file(arguments.output, topology_to_json(*made));
  return written ? ExitCode::kGood : fail(written.error());
}

ExitCode run_convert(const TopologyArguments& arguments) {
  return write_network(arguments,
                       [](Topology topology) { return Result<Topology>(std::move(topology)); });
}

ExitCode run_cluster(const TopologyArguments& arguments) {
  ClusterOptions options = arguments.cluster;
  options.latencies = arguments.import.latencies;
  if (!arguments.nic_bandwidth.empty()) {
    const Result<Bandwidth> bandwidth = parse_bandwidth(arguments.nic_bandwidth);
    if (!bandwidth) {
      return fail(input_error(bandwidth.error().message, "--nic-bw"));
    }
    options.nic_bandwidth = *bandwidth;
  }
  return write_network(arguments, [&](const Topology& box) { return make_cluster(box, options); });
}

void add_output_option(CLI::App& command, TopologyArguments& arguments) {
  require_value(
      command.add_option("-o,--output", arguments.output, "the file to write; '-' is stdout")
          ->required());
}

void add_cluster_command(CLI::App& command,
                         const std::shared_ptr<TopologyArguments>& arguments,
                         ExitCode& code) {
  CLI::App* cluster = command.add_subcommand("cluster", "Join copies of a box over a fabric");
  cluster->add_option("BOX", arguments->topology, "a spec or a file")->required();
  add_import_options(*cluster, arguments->import);
  add_fail_option(*cluster, arguments->failures);
  add_number(*cluster,
             "--boxes",
             {1, kMaxNodes},
             "how many copies",
             [arguments](std::uint64_t boxes) {
               arguments->cluster.boxes = static_cast<std::uint32_t>(boxes);
             })
      ->required();
  cluster
      ->add_option("--fabric",
                   arguments->cluster.fabric,
                   "switch, rail (a switch for each NIC of a box), leaf-spine:LxS or ring")
      ->required();
  constexpr std::uint64_t kMostNics = 4096;
  add_number(*cluster,
             "--nics",
             {1, kMostNics},
             "NICs of each box, shared evenly by its NPUs [those that the file lists]",
             [arguments](std::uint64_t nics) {
               arguments->cluster.nics = static_cast<std::uint32_t>(nics);
             });
  cluster->add_option("--nic-bw",
                      arguments->nic_bandwidth,
                      "of a NIC, one way, such as 200Gbps [what the file says]");
  add_output_option(*cluster, *arguments);
  cluster->callback([arguments, &code] { code = run_cluster(*arguments); });
}

}  // namespace

void add_topology_command(CLI::App& app, ExitCode& code) {
  auto arguments = std::make_shared<TopologyArguments>();
  CLI::App* command =
      app.add_subcommand("topology", "List, show and convert networks, make clusters");
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
  add_output_option(*convert, *arguments);
  convert->callback([arguments, &code] { code = run_convert(*arguments); });
  add_cluster_command(*command, arguments, code);
}

}  // namespace tacos::cli
