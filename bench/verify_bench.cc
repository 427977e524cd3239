// SPDX-License-Identifier: MIT
// What verification takes on several numbers of threads: one schedule by `matching`, verified in
// turn with each, and the least of a few runs.
//
//     verify_bench NETWORK COLLECTIVE THREADS...
//
// e.g. verify_bench mesh:100x100 all-gather 1 2 4 8 16
#include "tacos/verify.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "tacos/synthesize.h"

namespace tacos {
namespace {

constexpr int kRuns = 3;

struct Cost {
  int threads = 1;
  double wall = std::numeric_limits<double>::infinity();
  double cpu = std::numeric_limits<double>::infinity();
};

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

Synthesis make(const Topology& topology, const std::string& collective) {
  Problem problem{.kind = *parse_collective_kind(collective), .size = {1LL << 30U}};
  for (std::uint32_t npu = 0; npu < topology.num_npus(); ++npu) {
    problem.participants.emplace_back(npu);
  }
  if (problem.kind == CollectiveKind::kAllReduce) {
    problem.chunks = topology.num_npus();
  }
  const auto threads = static_cast<int>(std::thread::hardware_concurrency());
  return *synthesize(topology, problem, {.engine = "matching", .threads = threads});
}

void measure(const Topology& topology, const Synthesis& made, Cost& cost) {
  VerifyOptions options{.threads = cost.threads};
  options.memory_bytes = std::size_t{4} << 30U;
  const double start = now();
  const std::clock_t clock = std::clock();
  const Result<VerifyReport> report = verify(topology, *made.collective, *made.schedule, options);
  cost.cpu = std::min(cost.cpu, static_cast<double>(std::clock() - clock) / CLOCKS_PER_SEC);
  cost.wall = std::min(cost.wall, now() - start);
  if (!report || !report->valid()) {
    fmt::print(stderr, "the schedule is wrong\n");
    std::exit(1);
  }
}

}  // namespace
}  // namespace tacos

int main(int argc, char** argv) {
  using namespace tacos;  // NOLINT
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (arguments.size() < 3) {
    fmt::print(stderr, "verify_bench NETWORK COLLECTIVE THREADS...\n");
    return 2;
  }
  const Topology topology = *parse_topology_spec(arguments[0]);
  const Synthesis made = make(topology, arguments[1]);
  std::vector<Cost> costs;
  for (std::size_t i = 2; i < arguments.size(); ++i) {
    costs.push_back({.threads = std::stoi(arguments[i])});
  }
  for (int run = 0; run < kRuns; ++run) {
    for (Cost& cost : costs) {
      measure(topology, made, cost);
    }
  }
  const auto transfers = static_cast<double>(made.schedule->num_transfers());
  fmt::print("{} {}: {} transfers\n", arguments[0], arguments[1], made.schedule->num_transfers());
  for (const Cost& cost : costs) {
    fmt::print(
        "{:3} threads: {:8.3f} s, {:8.3f} s of CPU, {:6.1f} ns a transfer, {:5.2f} times as fast\n",
        cost.threads,
        cost.wall,
        cost.cpu,
        1e9 * cost.wall / transfers,
        costs.front().wall / cost.wall);
  }
}
