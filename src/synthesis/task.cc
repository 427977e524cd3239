// SPDX-License-Identifier: MIT
#include "tacos/task.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "base/text/quantity.h"

namespace tacos {
namespace {

bool from_file(const TaskWords& words) {
  return words.collective_text || names_collective_file(words.collective);
}

Result<Bytes> size_of(const TaskWords& words) {
  return parse_size(words.size.value_or(kDefaultSize));
}

Status check_root(NodeId root, const TaskWords& words, const Task& task) {
  const std::vector<NodeId>& participants = task.problem.participants;
  if (std::binary_search(participants.begin(), participants.end(), root)) {
    return ok();
  }
  const std::uint32_t npus = task.topology.num_npus();
  return input_error(
      root.value() >= npus
          ? fmt::format("root {} does not exist; NPUs are 0 to {}", root.value(), npus - 1)
      : words.group ? fmt::format("root {} is not in the group", root.value())
                    : fmt::format("root {} has failed", root.value()),
      words.collective);
}

/// A collective by name, among those that the words leave.
Result<Task> choose(const TaskWords& words, DegradedTopology network) {
  const Result<Bytes> size = size_of(words);
  const Result<CollectiveName> name = parse_collective_name(words.collective);
  if (!size || !name) {
    return size ? name.error() : size.error();
  }
  Result<std::vector<NodeId>> participants = choose_participants(words.group, network);
  if (!participants) {
    return participants.error();
  }
  Task task{.topology = std::move(network.topology),
            .problem = {.kind = name->kind,
                        .size = *size,
                        .participants = *std::move(participants),
                        .root = name->root}};
  if (task.problem.root) {
    if (Status takes_part = check_root(*task.problem.root, words, task); !takes_part) {
      return takes_part.error();
    }
  }
  return task;
}

Result<Collective> read_custom(const TaskWords& words, std::uint32_t num_npus) {
  std::optional<Bytes> size;
  if (words.size) {
    const Result<Bytes> read = size_of(words);
    if (!read) {
      return read.error();
    }
    size = *read;
  }
  return words.collective_text
             ? parse_collective_json(*words.collective_text, words.collective, num_npus, size)
             : load_collective(words.collective, num_npus, size);
}

/// A collective from a file, which says who takes part and, mostly, how large its chunks are.
Result<Task> load_custom(const TaskWords& words, DegradedTopology network) {
  if (words.group) {
    return input_error("says itself which NPUs take part; leave out --group", words.collective);
  }
  Result<Collective> collective = read_custom(words, network.topology.num_npus());
  if (!collective) {
    return collective.error();
  }
  const auto participants = collective->participants();
  for (const NodeId failed : network.failed_npus) {
    if (std::binary_search(participants.begin(), participants.end(), failed)) {
      return input_error(fmt::format("NPU {} takes part but has failed", failed.value()),
                         words.collective);
    }
  }
  return Task{.topology = std::move(network.topology),
              .problem = custom_problem(*std::move(collective))};
}

}  // namespace

Status check_words(const TaskWords& words) {
  if (const Result<Bytes> size = size_of(words); !size) {
    return size.error();
  }
  if (!from_file(words)) {
    if (const Result<CollectiveName> name = parse_collective_name(words.collective); !name) {
      return name.error();
    }
  }
  return ok();
}

Result<Task> make_task(const TaskWords& words, DegradedTopology network) {
  Result<Task> task =
      from_file(words) ? load_custom(words, std::move(network)) : choose(words, std::move(network));
  if (task && words.no_relay) {
    task->topology = without_relays(task->topology, task->problem.participants);
  }
  return task;
}

Result<std::vector<NodeId>> choose_participants(const std::optional<std::string>& group,
                                                const DegradedTopology& network) {
  const std::vector<NodeId>& failed = network.failed_npus;
  if (!group) {
    std::vector<NodeId> left;
    left.reserve(network.topology.num_npus());
    for (std::uint32_t npu = 0; npu < network.topology.num_npus(); ++npu) {
      if (!std::binary_search(failed.begin(), failed.end(), NodeId(npu))) {
        left.emplace_back(npu);
      }
    }
    return left;
  }
  Result<std::vector<NodeId>> chosen = parse_group(*group, network.topology.num_npus());
  if (!chosen) {
    return chosen.error();
  }
  const auto dead = std::find_if(chosen->begin(), chosen->end(), [&](NodeId npu) {
    return std::binary_search(failed.begin(), failed.end(), npu);
  });
  if (dead != chosen->end()) {
    return input_error(fmt::format("NPU {} of the group has failed", dead->value()), "--group");
  }
  return chosen;
}

}  // namespace tacos
