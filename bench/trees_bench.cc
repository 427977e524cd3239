// SPDX-License-Identifier: MIT
// All-Reduce by engine `trees` beside the bandwidth bound: one line per network, size and model.
//
//   trees_bench [GROUP]...     groups: theory published small large; all when none is given
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/quantity.h"
#include "base/rng.h"
#include "support/simple_allreduce_check.h"
#include "synthesis/trees/trees.h"

namespace {

using namespace tacos;  // NOLINT(google-build-using-namespace)

constexpr double kGib = 1073741824.0;

struct Case {
  std::string name;
  Topology topology;
  /// Milliseconds for 1 GiB, latency left out; nothing: computed from capacity and single NPUs.
  std::optional<double> exact_ms;
};

Topology must(Result<Topology> topology) {
  if (!topology) {
    fmt::print(stderr, "{}\n", topology.error().to_string());
    std::exit(1);
  }
  return std::move(*topology);
}

Topology dragonfly() {
  constexpr std::uint32_t kGroup = 4;
  constexpr std::uint32_t kGroups = 5;
  constexpr Ticks kLatency{500'000};
  TopologyBuilder builder("dragonfly 4x5", kGroup * kGroups);
  for (std::uint32_t g = 0; g < kGroups; ++g) {
    for (std::uint32_t a = 0; a < kGroup; ++a) {
      for (std::uint32_t b = a + 1; b < kGroup; ++b) {
        builder.add_both(
            {NodeId(g * kGroup + a), NodeId(g * kGroup + b), {400'000'000'000}, kLatency});
      }
    }
  }
  std::vector<std::uint32_t> used(kGroups, 0);
  for (std::uint32_t g = 0; g < kGroups; ++g) {
    for (std::uint32_t h = g + 1; h < kGroups; ++h) {
      builder.add_both({NodeId(g * kGroup + used[g]++),
                        NodeId(h * kGroup + used[h]++),
                        {200'000'000'000},
                        kLatency});
    }
  }
  return must(std::move(builder).build());
}

Topology dgx1() {
  TopologyBuilder builder("dgx1", 8);
  const auto join = [&](std::uint32_t a, std::uint32_t b, int count) {
    for (int i = 0; i < count; ++i) {
      builder.add_both({NodeId(a), NodeId(b), {25'000'000'000}, {500'000}});
    }
  };
  for (const auto& [a, b] : std::vector<std::pair<std::uint32_t, std::uint32_t>>{
           {0, 1}, {0, 4}, {1, 3}, {2, 3}, {2, 6}, {4, 5}, {5, 7}, {6, 7}}) {
    join(a, b, 2);
  }
  for (const auto& [a, b] : std::vector<std::pair<std::uint32_t, std::uint32_t>>{
           {0, 2}, {0, 3}, {1, 2}, {1, 5}, {3, 7}, {4, 6}, {4, 7}, {5, 6}}) {
    join(a, b, 1);
  }
  return must(std::move(builder).build());
}

/// Every direction of every link with a speed of its own.
Topology random_mesh() {
  const Topology mesh = must(parse_topology_spec("mesh:5x5"));
  TopologyBuilder builder("mesh:5x5 random 25/50/100", mesh.num_npus());
  Rng rng(7);
  constexpr std::int64_t kSpeeds[] = {25'000'000'000, 50'000'000'000, 100'000'000'000};
  for (Link link : mesh.links()) {
    link.bandwidth.bytes_per_second = kSpeeds[rng.below(3)];
    builder.add_link(link);
  }
  return must(std::move(builder).build());
}

/// 5% of the links gone, both directions, the network still whole.
Topology without_links(const std::string& spec) {
  const Topology whole = must(parse_topology_spec(spec));
  std::set<std::pair<std::uint32_t, std::uint32_t>> gone;
  Rng rng(3);
  const std::size_t count = whole.num_links() / 2 / 20;
  while (gone.size() < count) {
    const Link& link = whole.link(LinkId(rng.below(whole.num_links())));
    gone.insert(std::minmax({link.src.value(), link.dst.value()}));
  }
  TopologyBuilder builder(spec + " 5% failed", whole.num_npus());
  for (const Link& link : whole.links()) {
    if (!gone.contains(std::minmax({link.src.value(), link.dst.value()}))) {
      builder.add_link(link);
    }
  }
  return must(std::move(builder).build());
}

/// Milliseconds: what must cross links in all, and what must enter and leave each NPU.
double bandwidth_bound_ms(const Topology& topology, double bytes) {
  double total = 0;
  std::vector<double> in(topology.num_npus(), 0);
  std::vector<double> out(topology.num_npus(), 0);
  for (const Link& link : topology.links()) {
    const auto speed = static_cast<double>(link.bandwidth.bytes_per_second);
    total += speed;
    in[link.dst.index()] += speed;
    out[link.src.index()] += speed;
  }
  double bound = 2.0 * (topology.num_npus() - 1) * bytes / total;
  for (std::uint32_t v = 0; v < topology.num_npus(); ++v) {
    bound = std::max({bound, bytes / in[v], bytes / out[v]});
  }
  return bound * 1e3;
}

/// Milliseconds: the way between the farthest NPUs, its last hop over all links into the last NPU.
double latency_bound_ms(const Topology& topology, double bytes) {
  double bound = 0;
  const std::uint32_t nodes = topology.num_npus();
  if (nodes > 1024) {
    return 0;
  }
  for (std::uint32_t from = 0; from < nodes; ++from) {
    std::vector<double> distance(nodes, 1e30);
    distance[from] = 0;
    for (bool changed = true; changed;) {
      changed = false;
      for (const Link& link : topology.links()) {
        const double through =
            distance[link.src.index()] + static_cast<double>(link.latency.ps) * 1e-9;
        if (through < distance[link.dst.index()] - 1e-15) {
          distance[link.dst.index()] = through;
          changed = true;
        }
      }
    }
    for (std::uint32_t to = 0; to < nodes; ++to) {
      if (to == from) {
        continue;
      }
      // Smallest T with sum over links into `to` of speed * (T - way) = bytes.
      std::vector<std::pair<double, double>> ways;
      for (const LinkId id : topology.in_links(NodeId(to))) {
        const Link& link = topology.link(id);
        ways.emplace_back(
            distance[link.src.index()] + static_cast<double>(link.latency.ps) * 1e-9,
            static_cast<double>(link.bandwidth.bytes_per_second) * 1e-3);
      }
      std::sort(ways.begin(), ways.end());
      double speed = 0;
      double lost = 0;
      double time = 0;
      for (std::size_t i = 0; i < ways.size(); ++i) {
        speed += ways[i].second;
        lost += ways[i].second * ways[i].first;
        time = (bytes + lost) / speed;
        if (i + 1 == ways.size() || time <= ways[i + 1].first) {
          break;
        }
      }
      bound = std::max(bound, time);
    }
  }
  return bound;
}

void run(const Case& one, Bytes size, LinkModel model) {
  Problem problem{.kind = CollectiveKind::kAllReduce, .size = size, .chunks = {}, .participants = {}};
  for (std::uint32_t v = 0; v < one.topology.num_npus(); ++v) {
    problem.participants.emplace_back(v);
  }
  SynthesisOptions options;
  options.link_model = model;
  const auto begin = std::chrono::steady_clock::now();
  const std::clock_t cpu_begin = std::clock();
  const Result<Candidate> made = synthesize_trees(one.topology, problem, options);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  const double cpu_seconds = static_cast<double>(std::clock() - cpu_begin) / CLOCKS_PER_SEC;
  if (!made) {
    fmt::print("{}: {}\n", one.name, made.error().to_string());
    return;
  }
  const auto bytes = static_cast<double>(size.count);
  const double bandwidth =
      one.exact_ms ? *one.exact_ms * bytes / kGib : bandwidth_bound_ms(one.topology, bytes);
  const double bound = std::max(bandwidth, latency_bound_ms(one.topology, bytes));
  const double time = static_cast<double>(made->schedule.collective_time().ps) * 1e-9;
  std::string verdict = "-";
  if (made->schedule.totals().moves <= 40'000'000) {
    verdict =
        testing::check_allreduce(one.topology, made->collective, made->schedule, model).value_or("ok");
  }
  fmt::print("{:<28} {:>8} {:<9} {:>11.3f} us {:>6.2f}% of bandwidth {:>5.2f}x bound {:>7.2f} GB/s "
             "{:>6} chunks {:>10} transfers {:>6.2f} s {:>6.2f} cpu s  {:016x} {}\n",
             one.name,
             format_size(size),
             to_string(model),
             time * 1e3,
             100 * bandwidth / time,
             time / bound,
             bytes / time * 1e-6,
             made->collective.num_chunks(),
             made->schedule.num_transfers(),
             seconds.count(),
             cpu_seconds,
             made->schedule.hash(),
             verdict);
  std::fflush(stdout);
}

Case spec(const std::string& text, std::optional<double> exact_ms = {}) {
  return {text, must(parse_topology_spec(text)), exact_ms};
}

constexpr Bytes kOneGib{1LL << 30U};

void theory() {
  std::vector<Case> cases{spec("mesh:4x4", 13.4218),
                          spec("mesh:5x5", 12.8849),
                          spec("mesh:8x8", 12.0796),
                          spec("mesh:3x3x3", 10.3397),
                          spec("mesh:4x4x4", 9.3952),
                          spec("torus:4x4x4", 7.0464),
                          spec("torus:8x8", 10.5696),
                          spec("mesh:4x4,bw=100GBps/50GBps", 8.9478),
                          spec("mesh:8x8,bw=100GBps/50GBps", 8.0531),
                          {"mesh:5x5 random", random_mesh(), {}},
                          {"torus:8x8 5% failed", without_links("torus:8x8"), {}},
                          {"mesh:8x8 5% failed", without_links("mesh:8x8"), {}},
                          {"dragonfly 4x5", dragonfly(), 2.1475},
                          {"dgx1", dgx1(), 12.5270},
                          spec("mesh:3x11"),
                          spec("hypercube:5")};
  for (const LinkModel model : {LinkModel::kHold, LinkModel::kPipelined}) {
    for (const Case& one : cases) {
      run(one, kOneGib, model);
    }
  }
}

void published() {
  for (const LinkModel model : {LinkModel::kPipelined, LinkModel::kHold}) {
    for (const char* text : {"mesh:4x4,lat=0.2us",
                             "mesh:5x5,lat=0.2us",
                             "mesh:6x6,lat=0.2us",
                             "mesh:4x4,lat=0.2us,bw=50GBps/100GBps",
                             "mesh:4x4,lat=0.2us,bw=50GBps/200GBps"}) {
      for (const Bytes size : {Bytes{1'000'000}, Bytes{1'000'000'000}}) {
        run(spec(text), size, model);
      }
    }
  }
}

void small() {
  for (const LinkModel model : {LinkModel::kHold, LinkModel::kPipelined}) {
    for (const char* text : {"mesh:4x4",
                             "mesh:5x5",
                             "mesh:6x6",
                             "mesh:8x8",
                             "torus:4x4",
                             "torus:5x5",
                             "torus:6x6",
                             "torus:8x8"}) {
      for (const Bytes size : {Bytes{1 << 16U}, Bytes{1 << 20U}}) {
        run(spec(text), size, model);
      }
    }
  }
}

void large() {
  run(spec("torus:8x8x8,bw=100GBps/50GBps/25GBps"), kOneGib, LinkModel::kHold);
  run(spec("torus:8x8x8,bw=100GBps/50GBps/25GBps"), kOneGib, LinkModel::kPipelined);
  run(spec("mesh:64x64"), kOneGib, LinkModel::kHold);
  run(spec("mesh:200x200"), kOneGib, LinkModel::kHold);
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string_view> wanted(argv + 1, argv + argc);
  const bool wanted_hold = std::find(wanted.begin(), wanted.end(), "hold") != wanted.end();
  const auto selected = [&](std::string_view group) {
    return wanted.empty() || std::find(wanted.begin(), wanted.end(), group) != wanted.end();
  };
  if (selected("theory")) {
    theory();
  }
  if (selected("published")) {
    published();
  }
  if (selected("small")) {
    small();
  }
  if (selected("large")) {
    large();
  }
  for (const std::string_view text : wanted) {
    if (text.find(':') != std::string_view::npos) {
      run(spec(std::string(text)), kOneGib, LinkModel::kHold);
      if (!wanted_hold) {
        run(spec(std::string(text)), kOneGib, LinkModel::kPipelined);
      }
    }
  }
  return 0;
}
