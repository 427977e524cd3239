// SPDX-License-Identifier: MIT
// What the bounds cost and how tight they are, from a thousand to forty thousand NPUs:
//   bound_bench [largest number of NPUs]
// Prints one line a case: seconds, the bound, how much of it is proven attainable, peak memory.
#include "tacos/bound.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <sys/resource.h>

#include "base/numbers/rng.h"

namespace tacos {
namespace {

/// Without one in twenty of the pairs of opposite links.
Topology with_failures(const Topology& topology, std::uint64_t seed) {
  TopologyBuilder builder(topology.name() + " -5%", topology.num_npus(), topology.num_switches());
  for (const Link& link : topology.links()) {
    const std::uint64_t a = std::min(link.src, link.dst).value();
    const std::uint64_t b = std::max(link.src, link.dst).value();
    if (Rng(mix64(seed, (a << 32U) + b)).below(20) != 0) {
      builder.add_link(link);
    }
  }
  return std::move(builder).build().value();
}

/// 25, 50 or 100 GB/s for each link.
Topology with_random_bandwidth(const Topology& topology, std::uint64_t seed) {
  TopologyBuilder builder(topology.name() + " rnd", topology.num_npus(), topology.num_switches());
  Rng rng(seed);
  for (Link link : topology.links()) {
    link.bandwidth.bytes_per_second = 25'000'000'000LL << rng.below(3);
    builder.add_link(link);
  }
  return std::move(builder).build().value();
}

double peak_mebibytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

void time_bound(const Topology& topology, CollectiveKind kind, BoundEffort effort) {
  const Collective collective =
      Collective::over_all(kind, Bytes{1LL << 30U}, 1, topology.num_npus()).value();
  std::vector<double> seconds;
  BoundReport report;
  const int runs = topology.num_npus() <= 2000 ? 5 : 1;
  for (int run = 0; run < runs; ++run) {
    const auto start = std::chrono::steady_clock::now();
    report = compute_bounds(topology, collective, {.effort = effort}).value();
    seconds.push_back(
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  std::sort(seconds.begin(), seconds.end());
  const Result<Ticks> checked =
      check_certificate(topology, collective, report.bandwidth.certificate);
  const double bound = to_us(report.bandwidth.time);
  fmt::print("{:26} {:14} {:5} {:8.4f} s {:12.3f} us {:9} {} gap {} peak {:.0f} MiB{}\n",
             topology.name(),
             to_string(kind),
             effort == BoundEffort::kExact ? "exact" : "cheap",
             seconds[seconds.size() / 2],
             bound,
             report.bandwidth.name,
             report.bandwidth.exact ? "exact" : "valid",
             report.attainable
                 ? fmt::format("{:.2f}%", 100 * (to_us(*report.attainable) / bound - 1))
                 : std::string("-"),
             peak_mebibytes(),
             checked && *checked == report.bandwidth.time ? "" : " CERTIFICATE FAILS");
}

void run(std::uint32_t largest) {
  for (const char* spec : {"mesh:32x32",
                           "torus:32x32",
                           "torus:10x10x10",
                           "mesh:100x100",
                           "torus:100x100",
                           "torus:22x22x22",
                           "mesh:200x200",
                           "torus:200x200",
                           "torus:34x34x34"}) {
    const Topology topology = parse_topology_spec(spec).value();
    if (topology.num_npus() > largest) {
      continue;
    }
    const Topology other = std::string(spec).starts_with("mesh")
                               ? with_random_bandwidth(topology, 1)
                               : with_failures(topology, 1);
    for (const Topology* network : {&topology, &other}) {
      time_bound(*network, CollectiveKind::kAllGather, BoundEffort::kExact);
      time_bound(*network, CollectiveKind::kAllReduce, BoundEffort::kExact);
    }
    time_bound(topology, CollectiveKind::kAllGather, BoundEffort::kCheap);
    time_bound(topology, CollectiveKind::kBroadcast, BoundEffort::kExact);
    time_bound(topology, CollectiveKind::kAllToAll, BoundEffort::kExact);
  }
}

}  // namespace
}  // namespace tacos

int main(int argc, char** argv) {
  const long largest = argc > 1 ? std::strtol(argv[1], nullptr, 10) : 50'000;
  tacos::run(static_cast<std::uint32_t>(largest));
  return 0;
}
