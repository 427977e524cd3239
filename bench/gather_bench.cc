// SPDX-License-Identifier: MIT
// What one quick attempt costs on direct links: All-Gather and Reduce-Scatter of 1 GiB with one
// chunk per NPU, `matching` with one trial on one thread. The least CPU time of several runs, since
// others may use the machine, and the collective time. Called with the number of runs.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <ctime>
#include <limits>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "tacos/synthesize.h"
#include "tacos/verify.h"

namespace tacos {
namespace {

constexpr std::array kNetworks{"mesh:16x16",
                               "mesh:16x32",
                               "torus:8x8x8",
                               "mesh:16x32,bw=100GBps/50GBps",
                               "torus:8x8x8,bw=100GBps/50GBps/25GBps"};

double cpu_milliseconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) * 1e-6;
}

Topology network(const char* spec, bool dead_link) {
  Topology made = *parse_topology_spec(spec);
  if (!dead_link) {
    return made;
  }
  const std::array<std::string, 1> failures{"link:0-1"};
  return apply_failures(std::move(made), failures)->topology;
}

void measure(const Topology& topology, CollectiveKind kind, int runs) {
  Problem problem{.kind = kind, .size = {1LL << 30U}, .chunks = 1, .participants = {}, .root = {}};
  for (std::uint32_t npu = 0; npu < topology.num_npus(); ++npu) {
    problem.participants.emplace_back(npu);
  }
  double least = std::numeric_limits<double>::infinity();
  Ticks time;
  for (int run = 0; run < runs; ++run) {
    const double before = cpu_milliseconds();
    const Synthesis made =
        *synthesize(topology, problem, {.engine = "matching", .trials = 1, .threads = 1});
    least = std::min(least, cpu_milliseconds() - before);
    time = made.schedule->collective_time();
    if (run == 0 && !verify(topology, *made.collective, *made.schedule)->valid()) {
      fmt::print(stderr, "{}: a schedule is wrong\n", topology.name());
      std::exit(1);
    }
  }
  fmt::print(" {:8.2f} ms {:10.1f} us", least, static_cast<double>(time.ps) * 1e-6);
}

}  // namespace
}  // namespace tacos

int main(int argc, char** argv) {
  using namespace tacos;  // NOLINT
  const int runs = argc > 1 ? std::max(1, std::atoi(argv[1])) : 10;
  fmt::print("{:40} {:>25} {:>25}\n", "", "all-gather", "reduce-scatter");
  for (const char* spec : kNetworks) {
    for (const bool dead_link : {false, true}) {
      const Topology topology = network(spec, dead_link);
      fmt::print("{:40}", fmt::format("{}{}", spec, dead_link ? " -0-1" : ""));
      for (const CollectiveKind kind :
           {CollectiveKind::kAllGather, CollectiveKind::kReduceScatter}) {
        measure(topology, kind, runs);
      }
      fmt::print("\n");
    }
  }
}
