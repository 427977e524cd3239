// SPDX-License-Identifier: MIT
// All-Reduce by engine `trees` beside the bandwidth bound: one line per network, size and model.
//
//   trees_bench [GROUP]...     groups: theory published small large; all when none is given
#include "synthesis/trees/trees.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "tacos/bound.h"
#include "tacos/verify.h"

#include "base/quantity.h"
#include "base/rng.h"

namespace {

using namespace tacos;  // NOLINT(google-build-using-namespace)

struct Case {
  std::string name;
  Topology topology;
};

Topology must(Result<Topology> topology) {
  if (!topology) {
    fmt::print(stderr, "{}\n", topology.error().to_string());
    std::exit(1);
  }
  return std::move(*topology);
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

void run(const Case& one, Bytes size, LinkModel model) {
  Problem problem{
      .kind = CollectiveKind::kAllReduce, .size = size, .chunks = {}, .participants = {}};
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
  const BoundEffort effort =
      one.topology.num_npus() > 5000 ? BoundEffort::kCheap : BoundEffort::kExact;
  const Result<BoundReport> bounds =
      compute_bounds(one.topology, made->collective, {.effort = effort, .link_model = model});
  VerifyOptions verify_options;
  verify_options.link_model = model;
  const Result<VerifyReport> report =
      verify(one.topology, made->collective, made->schedule, verify_options);
  const double time = to_us(made->schedule.collective_time());
  fmt::print(
      "{:<36} {:>7} {:<9} {:>10.2f} us {:>6.2f}% of bandwidth {:>5.2f}x bound {:>7.2f} GB/s "
      "{:>6} chunks {:>10} transfers {:>6.2f} s ({:>5.2f} cpu) {:016x} {}\n",
      one.name,
      format_size(size),
      to_string(model),
      time,
      100 * to_us(bounds->bandwidth.time) / time,
      time / to_us(bounds->best.time),
      static_cast<double>(size.count) / time * 1e-3,
      made->collective.num_chunks(),
      made->schedule.num_transfers(),
      seconds.count(),
      cpu_seconds,
      made->schedule.hash(),
      report && report->valid() ? "verified" : "WRONG");
  std::fflush(stdout);
}

Case spec(const std::string& text) {
  return {text, must(parse_topology_spec(text))};
}

constexpr Bytes kOneGib{1LL << 30U};

void theory() {
  std::vector<Case> cases{spec("mesh:4x4"),
                          spec("mesh:5x5"),
                          spec("mesh:8x8"),
                          spec("mesh:3x3x3"),
                          spec("mesh:4x4x4"),
                          spec("torus:4x4x4"),
                          spec("torus:8x8"),
                          spec("mesh:4x4,bw=100GBps/50GBps"),
                          spec("mesh:8x8,bw=100GBps/50GBps"),
                          {"mesh:5x5 random 25/50/100", random_mesh()},
                          {"torus:8x8 5% failed", without_links("torus:8x8")},
                          {"mesh:8x8 5% failed", without_links("mesh:8x8")},
                          spec("dragonfly:4x5,bw=400GBps/200GBps"),
                          spec("dgx1"),
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
