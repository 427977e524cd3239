// SPDX-License-Identifier: MIT
// What it takes to make a program of a schedule by `auto`, and a loop where it is periodic: the
// least of a few runs on one thread, with a hash of the program.
//
//     lower_bench EFFORT NETWORK COLLECTIVE...
//
// e.g. lower_bench 5 torus:8x8x8 all-gather all-reduce
#include "tacos/lower.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <limits>
#include <vector>

#include <fmt/format.h>

#include "tacos/synthesize.h"

#include "base/numbers/hash.h"

namespace tacos {
namespace {

/// The least of a few runs, and what the last of them made.
template <class Make>
auto least_of(const Make& make, double& least) {
  constexpr int kRuns = 5;
  least = std::numeric_limits<double>::infinity();
  auto made = make();
  for (int i = 0; i < kRuns; ++i) {
    const std::clock_t clock = std::clock();
    made = make();
    least = std::min(least, static_cast<double>(std::clock() - clock) / CLOCKS_PER_SEC);
  }
  return made;
}

std::uint64_t hash_of(const Program& program) {
  StreamHash hash;
  std::vector<std::uint32_t> words;
  for (const NpuProgram& npu : program.npus) {
    words.assign({npu.slots.input, npu.slots.output, npu.slots.scratch});
    for (const Lane& lane : npu.lanes) {
      words.insert(words.end(),
                   {static_cast<std::uint32_t>(lane.role), lane.peer.value(), lane.channel});
      for (const Step& step : lane.steps) {
        words.insert(words.end(),
                     {static_cast<std::uint32_t>(step.kind),
                      static_cast<std::uint32_t>(step.from.buffer),
                      step.from.index,
                      static_cast<std::uint32_t>(step.to.buffer),
                      step.to.index});
        for (const Dependency& wait : npu.dependencies_of(step)) {
          words.insert(words.end(), {wait.lane, wait.step});
        }
      }
    }
    hash.add(std::as_bytes(std::span(words)));
  }
  return hash.value();
}

/// Bytes of steps and dependencies.
std::size_t bytes_of(const auto& program) {
  std::size_t bytes = 0;
  for (const auto& npu : program.npus) {
    bytes += npu.dependencies.size() * sizeof(npu.dependencies.front());
    for (const auto& lane : npu.lanes) {
      bytes += lane.steps.size() * sizeof(lane.steps.front());
    }
  }
  return bytes;
}

std::uint64_t scratch_of(const auto& program) {
  std::uint64_t slots = 0;
  for (const auto& npu : program.npus) {
    slots += npu.slots.scratch;
  }
  return slots;
}

void print(const char* name, double moves, double seconds, std::size_t bytes, std::uint64_t slots) {
  fmt::print(
      "{:<16} {:>12.0f} moves {:>9.4f} s {:>9.2f} million a second {:>10.2f} MB, {} slots of "
      "scratch",
      name,
      moves,
      seconds,
      moves / seconds * 1e-6,
      static_cast<double>(bytes) * 1e-6,
      slots);
}

int run(int effort, const char* network, std::span<char*> collectives) {
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
    const Result<Synthesis> made = synthesize(*topology, problem, {.effort = effort});
    if (!made || !made->schedule) {
      fmt::print(stderr, "{} has no schedule\n", name);
      return 1;
    }
    double seconds = 0;
    const auto moves = static_cast<double>(made->schedule->totals().moves);
    const Result<std::optional<Loop>> loop = least_of(
        [&] { return lower_loop(*topology, *made->collective, *made->schedule); }, seconds);
    if (loop && *loop) {
      print(name, moves, seconds, bytes_of(**loop), scratch_of(**loop));
      fmt::print(", a loop of {} rounds\n", (*loop)->rounds);
    }
    const Result<Program> program =
        least_of([&] { return lower(*topology, *made->collective, *made->schedule); }, seconds);
    if (!program) {
      fmt::print(stderr, "{}\n", program.error().to_string());
      continue;
    }
    print(name, moves, seconds, bytes_of(*program), scratch_of(*program));
    fmt::print(", {:016x}\n", hash_of(*program));
  }
  return 0;
}

}  // namespace
}  // namespace tacos

int main(int argc, char** argv) {
  if (argc < 4) {
    fmt::print(stderr, "usage: lower_bench EFFORT NETWORK COLLECTIVE...\n");
    return 2;
  }
  return tacos::run(std::atoi(argv[1]), argv[2], {argv + 3, static_cast<std::size_t>(argc - 3)});
}
