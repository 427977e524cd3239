// SPDX-License-Identifier: MIT
#include "cli/task.h"

#include <algorithm>
#include <array>
#include <iterator>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/text/quantity.h"
#include "cli/options.h"
#include "cli/report.h"
#include "cli/terminal/streams.h"

namespace tacos::cli {
namespace {

constexpr const char* kDefaultSize = "1GiB";

Status check_root(NodeId root, const TaskArguments& arguments, const Task& task) {
  if (std::binary_search(task.participants.begin(), task.participants.end(), root)) {
    return ok();
  }
  const std::uint32_t npus = task.topology.num_npus();
  return input_error(
      root.value() >= npus
          ? fmt::format("root {} does not exist; NPUs are 0 to {}", root.value(), npus - 1)
      : arguments.group ? fmt::format("root {} is not in the group", root.value())
                        : fmt::format("root {} has failed", root.value()),
      arguments.collective);
}

/// A collective by name, among those that the arguments leave.
Result<Task> choose(const TaskArguments& arguments,
                    const CollectiveName& name,
                    Bytes size,
                    DegradedTopology network) {
  Result<std::vector<NodeId>> participants = choose_participants(arguments.group, network);
  if (!participants) {
    return participants.error();
  }
  Task task{.topology = std::move(network.topology),
            .kind = name.kind,
            .root = name.root,
            .size = size,
            .participants = *std::move(participants),
            .custom = std::nullopt};
  if (task.root) {
    if (Status takes_part = check_root(*task.root, arguments, task); !takes_part) {
      return takes_part.error();
    }
  }
  return task;
}

/// A collective from a file, which says who takes part and, mostly, how large its chunks are.
Result<Task> load_custom(const TaskArguments& arguments, Bytes size, DegradedTopology network) {
  if (arguments.group) {
    return input_error("says itself which NPUs take part; leave out --group", arguments.collective);
  }
  Result<Collective> collective =
      load_collective(arguments.collective,
                      network.topology.num_npus(),
                      arguments.size ? std::optional(size) : std::nullopt);
  if (!collective) {
    return collective.error();
  }
  const auto participants = collective->participants();
  for (const NodeId failed : network.failed_npus) {
    if (std::binary_search(participants.begin(), participants.end(), failed)) {
      return input_error(fmt::format("NPU {} takes part but has failed", failed.value()),
                         arguments.collective);
    }
  }
  return Task{.topology = std::move(network.topology),
              .kind = CollectiveKind::kCustom,
              .root = std::nullopt,
              .size = collective->size(),
              .participants = {participants.begin(), participants.end()},
              .custom = *std::move(collective)};
}

}  // namespace

Result<std::vector<NodeId>> choose_participants(const std::optional<std::string>& text,
                                                const DegradedTopology& network) {
  const std::vector<NodeId>& failed = network.failed_npus;
  if (!text) {
    const std::vector<NodeId> all = all_npus(network.topology);
    std::vector<NodeId> left;
    std::set_difference(
        all.begin(), all.end(), failed.begin(), failed.end(), std::back_inserter(left));
    return left;
  }
  Result<std::vector<NodeId>> group = parse_group(*text, network.topology.num_npus());
  if (!group) {
    return group.error();
  }
  const auto dead = std::find_if(group->begin(), group->end(), [&](NodeId npu) {
    return std::binary_search(failed.begin(), failed.end(), npu);
  });
  if (dead != group->end()) {
    return input_error(fmt::format("NPU {} of the group has failed", dead->value()), "--group");
  }
  return group;
}

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
      .add_option("COLLECTIVE", arguments.collective, "all-gather, broadcast:ROOT, ..., or a file")
      ->required();
  command.add_option("--size", arguments.size, fmt::format("the whole buffer [{}]", kDefaultSize));
  command.add_option("--group", arguments.group, "the NPUs that take part, such as 0-3,8,9 [all]");
  add_fail_option(command, arguments.failures);
  add_switch(command,
             "--no-relay",
             arguments.no_relay,
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
  const Result<Bytes> size = parse_size(arguments.size.value_or(kDefaultSize));
  if (!size) {
    return size.error();
  }
  const bool from_file = names_collective_file(arguments.collective);
  const Result<CollectiveName> name =
      from_file ? CollectiveName{.kind = CollectiveKind::kCustom, .root = std::nullopt}
                : parse_collective_name(arguments.collective);
  if (!name) {
    return name.error();
  }
  Result<DegradedTopology> left =
      load_degraded(arguments.topology, arguments.failures, arguments.import, arguments.doubts);
  if (!left) {
    return left.error();
  }
  Result<Task> task = from_file ? load_custom(arguments, *size, *std::move(left))
                                : choose(arguments, *name, *size, *std::move(left));
  if (task && arguments.no_relay) {
    task->topology = without_relays(task->topology, task->participants);
  }
  return task;
}

}  // namespace tacos::cli
