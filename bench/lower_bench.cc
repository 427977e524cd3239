// SPDX-License-Identifier: MIT
// What it takes to make a program of a schedule by `auto`: the least of a few runs on one thread.
//
//     lower_bench NETWORK COLLECTIVE...
//
// e.g. lower_bench torus:8x8x8 all-gather all-reduce
#include "tacos/lower.h"

#include <algorithm>
#include <cstdint>
#include <ctime>
#include <limits>

#include <fmt/format.h>

#include "tacos/synthesize.h"

namespace tacos {
namespace {

int run(const char* network, std::span<char*> collectives) {
  constexpr int kRuns = 5;
  const Result<Topology> topology = parse_topology_spec(network);
  if (!topology) {
    fmt::print(stderr, "{}\n", topology.error().to_string());
    return 1;
  }
  for (const char* name : collectives) {
    const Result<CollectiveKind> kind = parse_collective_kind(name);
    if (!kind) {
      fmt::print(stderr, "{}\n", kind.error().to_string());
      return 1;
    }
    Problem problem{.kind = *kind, .size = {1LL << 30U}};
    for (std::uint32_t npu = 0; npu < topology->num_npus(); ++npu) {
      problem.participants.emplace_back(npu);
    }
    const Result<Synthesis> made = synthesize(*topology, problem);
    if (!made || !made->schedule) {
      fmt::print(stderr, "{} has no schedule\n", name);
      return 1;
    }
    double least = std::numeric_limits<double>::infinity();
    for (int i = 0; i < kRuns; ++i) {
      const std::clock_t clock = std::clock();
      const Result<Program> program = lower(*topology, *made->collective, *made->schedule);
      least = std::min(least, static_cast<double>(std::clock() - clock) / CLOCKS_PER_SEC);
      if (!program) {
        fmt::print(stderr, "{}\n", program.error().to_string());
        return 1;
      }
    }
    const auto moves = static_cast<double>(made->schedule->totals().moves);
    fmt::print("{:<16} {:>12.0f} moves {:>8.3f} s {:>8.2f} million a second\n",
               name,
               moves,
               least,
               moves / least * 1e-6);
  }
  return 0;
}

}  // namespace
}  // namespace tacos

int main(int argc, char** argv) {
  if (argc < 3) {
    fmt::print(stderr, "usage: lower_bench NETWORK COLLECTIVE...\n");
    return 2;
  }
  return tacos::run(argv[1], {argv + 2, static_cast<std::size_t>(argc - 2)});
}
