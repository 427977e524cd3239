// SPDX-License-Identifier: MIT
// tacos-mpi probe: what the network between these ranks is really like.
#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/files/file.h"
#include "base/parallel/agree.h"
#include "base/text/quantity.h"
#include "cli/command.h"
#include "cli/measured_network.h"
#include "cli/options.h"
#include "cli/rank_run.h"
#include "cli/report.h"
#include "cli/task.h"
#include "cli/terminal/progress.h"
#include "cli/terminal/streams.h"
#include "topology/names.h"

namespace tacos::cli {
namespace {

struct ProbeArguments {
  std::string topology;
  ImportOptions import;
  std::vector<std::string> failures;
  std::string transport = "auto";
  std::string output;
  bool json = false;
};

/// What was asked about: a network, or whatever there is.
Result<std::optional<Topology>> load(const ProbeArguments& arguments, Team& team) {
  if (arguments.topology.empty()) {
    return std::optional<Topology>();
  }
  Result<DegradedTopology> network = load_degraded(arguments.topology,
                                                   arguments.failures,
                                                   arguments.import,
                                                   team.leads() ? Doubts::kTell : Doubts::kKeep);
  if (!network) {
    return network.error();
  }
  const auto npus = static_cast<int>(network->topology.num_npus());
  if (npus != team.size()) {
    return input_error(
        fmt::format("has {} NPUs, and there are {} ranks; start as many", npus, team.size()),
        arguments.topology);
  }
  return std::optional(std::move(network->topology));
}

std::string link_text(const Topology& topology, LinkId id) {
  const Link& link = topology.link(id);
  return fmt::format("{}>{}",
                     printable(short_name(topology, link.src)),
                     printable(short_name(topology, link.dst)));
}

Json slow_json(const Topology& topology, const std::vector<SlowLink>& slow) {
  Json list = Json::array();
  for (const SlowLink& one : slow) {
    const Link& link = topology.link(one.link);
    list.push_back({{"link", one.link.value()},
                    {"src", link.src.value()},
                    {"dst", link.dst.value()},
                    {"bandwidth_Bps", link.bandwidth.bytes_per_second},
                    {"share", one.share}});
  }
  return list;
}

/// Links that were said to be alike, a row each.
void print_kinds(const Topology& before, const MeasuredNetwork& found) {
  std::map<std::pair<Bandwidth, Ticks>, std::vector<LinkId>> kinds;
  for (std::uint32_t id = 0; id < before.num_links(); ++id) {
    if (!before.failed(LinkId(id))) {
      const Link& link = before.link(LinkId(id));
      kinds[{link.bandwidth, link.latency}].emplace_back(id);
    }
  }
  Table table;
  for (auto& [kind, links] : kinds) {
    std::sort(links.begin(), links.end(), [&found](LinkId a, LinkId b) {
      return found.found[a.index()] < found.found[b.index()];
    });
    const Link& middle = found.topology.link(links[links.size() / 2]);
    table.add(fmt::format("{} links of {}", links.size(), format_bandwidth(kind.first)),
              fmt::format("{} to {}, mostly {}; {} latency, {} gap",
                          format_bandwidth(found.found[links.front().index()]),
                          format_bandwidth(found.found[links.back().index()]),
                          format_bandwidth(middle.bandwidth),
                          format_time(middle.latency),
                          format_time(middle.gap)));
  }
  table.print(stdout);
}

void print_measured(const Topology& before, const MeasuredNetwork& found, double seconds) {
  emit(stdout,
       "{}: {} links measured in {:.1f} s, {} slower than their peers by more than 10%\n\n",
       printable(before.name()),
       before.num_working_links() - found.unmeasured,
       seconds,
       found.slow.empty() ? "none" : fmt::format("{}", found.slow.size()));
  print_kinds(before, found);
  for (const SlowLink& one : found.slow) {
    emit(stdout,
         "\nslow: {} has {}, {:.0f}% of its peers",
         link_text(before, one.link),
         format_bandwidth(found.topology.link(one.link).bandwidth),
         100 * one.share);
  }
  emit(stdout, "{}", found.slow.empty() ? "" : "\n");
  if (found.sharing > 0) {
    complain(
        fmt::format("warning: {} links are slower by a tenth and more when all are busy: they "
                    "share something that the network does not show",
                    found.sharing));
  }
  if (found.unmeasured > 0) {
    complain(
        fmt::format("warning: {} links between switches were not measured and are as they were",
                    found.unmeasured));
  }
}

ExitCode write(const ProbeArguments& arguments, const Topology& topology, const Json& slow) {
  const std::string text = topology_to_json(topology);
  if (const Status written = write_text_file(arguments.output, text); !written) {
    return fail(written.error());
  }
  if (arguments.json) {
    Json json = Json::parse(text);
    json["slow"] = slow;
    print_object(json);
  }
  return ExitCode::kGood;
}

using execution::WireSpeed;

Result<std::vector<WireSpeed>> measure(Team& team,
                                       Transport& transport,
                                       const std::vector<ProbedWire>& wires,
                                       const std::function<void(double)>& progress) {
  std::vector<execution::Wire> plain;
  plain.reserve(wires.size());
  for (const ProbedWire& one : wires) {
    plain.push_back(one.wire);
  }
  return execution::probe(team, transport, plain, progress);
}

/// Measures once more what seems slow: a machine that was busy for a moment is no bad cable.
Status look_again(Team& team,
                  Transport& transport,
                  const Topology& topology,
                  const std::vector<ProbedWire>& wires,
                  std::vector<WireSpeed>& speeds) {
  const Result<MeasuredNetwork> found = with_speeds(topology, wires, speeds);
  if (!found) {
    return found.error();
  }
  std::vector<std::size_t> doubtful;
  std::vector<ProbedWire> again;
  for (std::size_t w = 0; w < wires.size(); ++w) {
    const auto seems_slow = [&wires, w](const SlowLink& slow) {
      return std::count(wires[w].links.begin(), wires[w].links.end(), slow.link) > 0;
    };
    if (std::any_of(found->slow.begin(), found->slow.end(), seems_slow)) {
      doubtful.push_back(w);
      again.push_back(wires[w]);
    }
  }
  if (doubtful.empty()) {
    return ok();
  }
  const Result<std::vector<WireSpeed>> second = measure(team, transport, again, {});
  if (!second) {
    return second.error();
  }
  for (std::size_t i = 0; i < doubtful.size(); ++i) {
    WireSpeed& first = speeds[doubtful[i]];
    const double together = first.bandwidth_together;
    if ((*second)[i].bandwidth > first.bandwidth) {
      first = (*second)[i];
      first.bandwidth_together = together;
    }
  }
  return ok();
}

ExitCode run_probe(const ProbeArguments& arguments, Ranks& ranks) {
  Team& team = ranks.team();
  Result<std::optional<Topology>> network = load(arguments, team);
  if (const Status agreed = agree(team, network ? ok() : Status(network.error())); !agreed) {
    return fail(agreed.error());
  }
  const Result<Transport*> transport = ranks.transport(arguments.transport);
  if (!transport) {
    return fail(transport.error());
  }
  const auto processes = static_cast<std::uint32_t>(team.size());
  const std::vector<ProbedWire> wires = *network ? wires_of(**network) : all_pairs(processes);
  if (wires.empty()) {
    return fail(input_error("there is nothing to measure between one rank and itself"));
  }
  Progress progress("probing");
  const Stopwatch watch;
  Result<std::vector<WireSpeed>> speeds =
      measure(team, **transport, wires, [&progress](double share) { progress.update(share); });
  if (!speeds) {
    return fail(speeds.error());
  }
  if (*network) {
    if (const Status sure = look_again(team, **transport, **network, wires, *speeds); !sure) {
      return fail(sure.error());
    }
  }
  if (!team.leads()) {
    return ExitCode::kGood;
  }
  if (*network) {
    const Result<MeasuredNetwork> found = with_speeds(**network, wires, *speeds);
    if (!found) {
      return fail(found.error());
    }
    if (!arguments.json) {
      print_measured(**network, *found, watch.seconds());
    }
    return write(arguments, found->topology, slow_json(found->topology, found->slow));
  }
  const Result<ProposedNetwork> found = propose(processes, wires, *speeds);
  if (!found) {
    return fail(found.error());
  }
  if (!arguments.json) {
    emit(stdout,
         "{} ranks, {} pairs measured in {:.1f} s: {}; that explains {:.0f}% of the pairs\n",
         processes,
         wires.size(),
         watch.seconds(),
         found->why,
         100 * found->explained);
  }
  return write(arguments, found->topology, Json::array());
}

}  // namespace

void add_probe_command(CLI::App& app, ExitCode& code, Ranks* ranks) {
  auto arguments = std::make_shared<ProbeArguments>();
  CLI::App* command = app.add_subcommand("probe", "Measure the network between these ranks");
  command->add_option("TOPOLOGY",
                      arguments->topology,
                      "a network whose links to measure; rank r is NPU r [all pairs of ranks]");
  add_import_options(*command, arguments->import);
  add_fail_option(*command, arguments->failures);
  add_transport_option(*command, arguments->transport);
  require_value(
      command->add_option("-o,--output", arguments->output, "the network as measured")->required());
  add_switch(*command, "--json", arguments->json, "print one JSON object");
  command->callback([arguments, &code, ranks] { code = run_probe(*arguments, *ranks); });
}

}  // namespace tacos::cli
