// SPDX-License-Identifier: MIT
#include "soak/case.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "tacos/collective.h"

#include "base/numbers/rng.h"
#include "support/patterns.h"
#include "support/random_network.h"
#include "support/symmetry.h"

namespace tacos::soak {
namespace {

bool one_in(Rng& rng, std::uint32_t times) {
  return rng.below(times) == 0;
}

/// About as many of each order of magnitude.
std::int64_t any_size(Rng& rng) {
  const std::uint32_t bits = 1 + rng.below(30);
  return 1 + static_cast<std::int64_t>(rng.next() % (std::uint64_t{1} << bits));
}

std::string any_spec(Rng& rng) {
  constexpr std::array kSpecs{"mesh:3x3",
                              "mesh:2x5,bw=25GBps/100GBps",
                              "torus:3x4",
                              "hypercube:3",
                              "fc:6",
                              "switch:7",
                              "dragonfly:3x4",
                              "dragonfly:2x3,lat=0.1us/2us",
                              "leaf-spine:2x3x2",
                              "switch:6,unwind=2",
                              "fat-tree:2",
                              "rail:2x4",
                              "rfs:2x2x2",
                              "hetero-mesh:3x3",
                              "hetero-switch:3x2",
                              "switch-2d:3x3",
                              "dgx1",
                              "a100:1",
                              "h100:1",
                              "mi250:1",
                              "ndv2:2"};
  return one_in(rng, 2) ? testing::random_product(rng.next())
                        : kSpecs[rng.below(static_cast<std::uint32_t>(kSpecs.size()))];
}

/// Speeds and latencies of every order of magnitude.
Topology rough_network(Rng& rng) {
  const Topology plain = testing::random_network(rng.next(), {.max_npus = 8});
  TopologyBuilder builder("rough", plain.num_npus());
  for (Link link : plain.links()) {
    link.bandwidth.bytes_per_second =
        1'000'000 + (static_cast<std::int64_t>(rng.next() >> 24U) >> rng.below(24));
    link.latency.ps = static_cast<std::int64_t>(rng.next() >> 24U) >> rng.below(41);
    link.gap.ps =
        one_in(rng, 2) ? 0 : static_cast<std::int64_t>(rng.next() >> 24U) >> rng.below(41);
    builder.add_link(link);
  }
  return std::move(builder).build().value();
}

Topology circulant(Rng& rng) {
  const std::uint32_t npus = 4 + rng.below(7);
  std::vector<std::uint32_t> steps{1, 2 + rng.below(npus - 2)};
  if (one_in(rng, 2)) {
    steps = {1, npus - 1, steps[1], npus - steps[1]};
  }
  std::sort(steps.begin(), steps.end());
  steps.erase(std::unique(steps.begin(), steps.end()), steps.end());
  return testing::relabelled(testing::directed_circulant(npus, steps), rng.next());
}

/// A network that no spec describes.
Topology any_network(Rng& rng) {
  switch (rng.below(7)) {
    case 0:
      return rough_network(rng);
    case 1:
      return circulant(rng);
    case 2:
      return testing::random_network(rng.next(), {.connected = false});
    case 3:
      return testing::random_network(rng.next(), {.directed = false});
    case 4:
      return testing::random_network(rng.next(), {.heterogeneous = false});
    case 5:
      return testing::random_switched_network(rng.next());
    default:
      return testing::random_network(rng.next());
  }
}

/// Up to two failures; `alive` loses the NPUs that fail.
std::vector<std::string> any_failures(Rng& rng,
                                      const Topology& topology,
                                      std::vector<std::uint32_t>& alive) {
  std::vector<std::string> failures;
  for (std::uint32_t left = rng.below(3); left > 0 && topology.num_links() > 0; --left) {
    const Link& link = topology.link(LinkId(rng.below(topology.num_links())));
    std::string ends = fmt::format("{}>{}", link.src.value(), link.dst.value());
    if (one_in(rng, 2)) {
      ends = fmt::format("{}-{}", link.src.value(), link.dst.value());
    }
    switch (alive.size() > 2 ? rng.below(3) : rng.below(2)) {
      case 0:
        failures.push_back("link:" + ends);
        break;
      case 1:
        failures.push_back(fmt::format("slow:{}={}", ends, one_in(rng, 2) ? "0.5" : "0.013"));
        break;
      default: {
        const auto at = alive.begin() + rng.below(static_cast<std::uint32_t>(alive.size()));
        failures.push_back(fmt::format("npu:{}", *at));
        alive.erase(at);
      }
    }
    // A link that fails twice is refused.
    if (failures.size() == 2 && !failures[0].starts_with("npu:") &&
        !failures[1].starts_with("npu:")) {
      failures.pop_back();
    }
  }
  return failures;
}

std::string listed(const std::vector<std::uint32_t>& npus) {
  std::string text;
  for (const std::uint32_t npu : npus) {
    text += fmt::format("{}{}", text.empty() ? "" : ",", npu);
  }
  return text;
}

/// A collective file: every chunk has some sources and destinations.
std::string any_custom(Rng& rng, const std::vector<std::uint32_t>& npus) {
  const auto some = [&] {
    std::vector<std::uint32_t> chosen = npus;
    std::erase_if(chosen, [&](std::uint32_t) { return !one_in(rng, 3); });
    return chosen.empty() ? std::vector{npus[rng.below(static_cast<std::uint32_t>(npus.size()))]}
                          : chosen;
  };
  const bool sized = one_in(rng, 2);
  std::string text;
  for (std::uint32_t left = 1 + rng.below(6); left > 0; --left) {
    text += fmt::format("{}{{\"sources\": [{}], \"destinations\": [{}], \"op\": \"{}\"{}}}",
                        text.empty() ? "" : ", ",
                        listed(some()),
                        listed(some()),
                        one_in(rng, 2) ? "copy" : "reduce",
                        sized ? fmt::format(", \"bytes\": {}", any_size(rng)) : "");
  }
  return fmt::format("{{\"chunks\": [{}]{}}}\n",
                     text,
                     sized ? "" : fmt::format(", \"size_bytes\": {}", 10 + any_size(rng)));
}

/// Who takes part, and in what.
void choose_collective(Rng& rng,
                       std::vector<std::uint32_t> alive,
                       const std::string& folder,
                       Case& made) {
  if (one_in(rng, 12)) {
    made.task.words.collective = folder + "/collective.json";
    made.files.push_back({made.task.words.collective, any_custom(rng, alive)});
    return;
  }
  if (one_in(rng, 3)) {
    std::vector<std::uint32_t> group = alive;
    std::erase_if(group, [&](std::uint32_t) { return one_in(rng, 2); });
    alive = group.empty() ? alive : group;
    made.task.words.group = listed(alive);
  }
  made.task.words.no_relay = one_in(rng, 6);
  const auto kinds = collective_kinds();
  const CollectiveKind kind = kinds[rng.below(static_cast<std::uint32_t>(kinds.size()))];
  made.task.words.collective = to_string(kind);
  if (is_rooted(kind) && !one_in(rng, 4)) {
    made.task.words.collective +=
        fmt::format(":{}", alive[rng.below(static_cast<std::uint32_t>(alive.size()))]);
  }
  made.task.words.size = fmt::format("{}", any_size(rng));
  if (one_in(rng, 3)) {
    made.chunks = 1 + rng.below(6);
  }
}

/// As one word of a shell.
std::string quoted(const std::string& word) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=:,./";
  return word.find_first_not_of(kPlain) == std::string::npos ? word : "'" + word + "'";
}

}  // namespace

Case random_case(std::uint64_t number, const std::string& folder) {
  Rng rng(number);
  Case made;
  Topology topology = TopologyBuilder("", 1).build().value();
  if (one_in(rng, 3)) {
    made.task.topology = any_spec(rng);
    topology = parse_topology_spec(made.task.topology).value();
  } else {
    topology = any_network(rng);
    made.task.topology = folder + "/network.json";
    made.files.push_back({made.task.topology, topology_to_json(topology)});
  }
  std::vector<std::uint32_t> alive(topology.num_npus());
  for (std::uint32_t npu = 0; npu < alive.size(); ++npu) {
    alive[npu] = npu;
  }
  if (one_in(rng, 4)) {
    made.task.failures = any_failures(rng, topology, alive);
  }
  choose_collective(rng, alive, folder, made);
  made.link_model = one_in(rng, 2) ? LinkModel::kHold : LinkModel::kPipelined;
  made.seed = 1 + rng.below(5);
  if (one_in(rng, 3)) {
    made.trials = 1 + rng.below(3);
  }
  return made;
}

std::string command_of(const Case& given, std::string_view more) {
  std::string text = fmt::format(
      "tacos synth {} {}", quoted(given.task.topology), quoted(given.task.words.collective));
  const auto add = [&](const char* option, const auto& value) {
    if (value) {
      text += fmt::format(" {} {}", option, *value);
    }
  };
  add("--size", given.task.words.size);
  add("--group", given.task.words.group);
  for (const std::string& failure : given.task.failures) {
    text += " --fail " + quoted(failure);
  }
  text += given.task.words.no_relay ? " --no-relay" : "";
  add("--chunks", given.chunks);
  add("--trials", given.trials);
  return fmt::format("{} --seed {} {}", text, given.seed, more);
}

}  // namespace tacos::soak
