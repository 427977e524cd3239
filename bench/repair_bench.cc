// SPDX-License-Identifier: MIT
// What a repair costs and how good it is: All-Gather, Reduce-Scatter and All-Reduce of 1 GiB on 512
// NPUs after one dead cable, each of many taken at random, on one thread; All-Reduce on larger
// meshes. Times are the least CPU time of several runs, since others may use the machine: of the
// repair alone, and with the verification of its schedule. The last columns compare with a
// synthesis at default effort of the same broken network, for the first cables only, since that
// takes seconds each; those that are much slower are named on stderr, beside the bound of their
// network. Tables in docs/adr (0107 is the last) are
//
//   repair_bench 50 10
//
// usage: repair_bench CABLES [COMPARED [RUNS [PART-OF-A-NAME]]]
#include "tacos/repair.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "tacos/bound.h"
#include "tacos/verify.h"

#include "repair_cases.h"

namespace tacos {
namespace {

constexpr std::array kNetworks{"torus:8x8x8",
                               "torus:8x8x8,bw=100GBps/50GBps/25GBps",
                               "mesh:16x32",
                               "mesh:16x32,bw=100GBps/50GBps"};
constexpr std::array kLarge{"mesh:64x64", "mesh:200x200"};
constexpr std::array kKinds{
    CollectiveKind::kAllGather, CollectiveKind::kReduceScatter, CollectiveKind::kAllReduce};

struct Counts {
  std::size_t cables = 1;
  std::size_t compared = 0;
  int runs = 5;
};

/// Mean and largest of some numbers.
struct Spread {
  double sum = 0;
  double most = -std::numeric_limits<double>::infinity();
  std::size_t count = 0;

  void add(double value) {
    sum += value;
    most = std::max(most, value);
    ++count;
  }
  [[nodiscard]] double mean() const { return sum / static_cast<double>(count); }
};

double milliseconds(Ticks time) {
  return static_cast<double>(time.ps) * 1e-9;
}

/// By how many percent a repair is slower than a synthesis at default effort.
double slower_than_default(const Bundle& bundle, const std::string& cable) {
  constexpr double kMuch = 5;
  const Collective& collective = bundle.collective;
  const Synthesis full =
      taken(synthesize(bundle.topology, problem_of(bundle.topology, collective.kind())));
  const double repaired = milliseconds(bundle.schedule.collective_time());
  const double best = milliseconds(full.schedule->collective_time());
  const double slower = 100 * (repaired / best - 1);
  if (slower > kMuch) {
    fmt::print(stderr,
               "{} {}: {:.3f} ms, at default effort {:.3f}, bound {:.3f}\n",
               collective.name(),
               cable,
               repaired,
               best,
               milliseconds(taken(compute_bounds(bundle.topology, collective)).best.time));
  }
  return slower;
}

void measure(const char* spec, CollectiveKind kind, const Counts& counts) {
  const Topology topology = taken(parse_topology_spec(spec));
  const Repairer repairer = taken(Repairer::make(bundle_of(topology, kind, kLeastEffort)));
  Spread repairs;
  Spread with_verification;
  Spread slower;
  const std::vector<std::string> cables = cables_of(topology, counts.cables);
  for (std::size_t i = 0; i < cables.size(); ++i) {
    double least = std::numeric_limits<double>::infinity();
    for (int run = 1; run < counts.runs; ++run) {
      const double before = cpu_milliseconds();
      const Repair again = taken(repairer.repair({.failures = {cables[i]}}));
      least = std::min(least, cpu_milliseconds() - before);
    }
    const double before = cpu_milliseconds();
    const Repair repair = taken(repairer.repair({.failures = {cables[i]}}));
    const double between = cpu_milliseconds();
    const Bundle& bundle = repair.bundle;
    if (!taken(verify(bundle.topology, bundle.collective, bundle.schedule)).valid()) {
      give_up(fmt::format("{} {} {}: a schedule is wrong", spec, to_string(kind), cables[i]));
    }
    const double after = cpu_milliseconds();
    least = std::min(least, between - before);
    repairs.add(least);
    with_verification.add(least + after - between);
    if (i < counts.compared) {
      slower.add(slower_than_default(bundle, cables[i]));
    }
  }
  fmt::print("| {} {} | {} | {:.1f} | {:.1f} | {:.1f} |",
             spec,
             to_string(kind),
             cables.size(),
             repairs.mean(),
             repairs.most,
             with_verification.mean());
  if (slower.count > 0) {
    fmt::print(" {} | {:.1f}% | {:.1f}% |\n", slower.count, slower.mean(), slower.most);
  } else {
    fmt::print(" 0 | | |\n");
  }
  std::fflush(stdout);
}

void measure_all(const Counts& counts, const std::string& part) {
  fmt::print(
      "| | cables | repair: mean, ms | most, ms | with verification, ms "
      "| compared | slower than default effort: mean | most |\n"
      "|---|---|---|---|---|---|---|---|\n");
  const auto is_wanted = [&](const char* spec, CollectiveKind kind) {
    return fmt::format("{} {}", spec, to_string(kind)).find(part) != std::string::npos;
  };
  for (const char* spec : kNetworks) {
    for (const CollectiveKind kind : kKinds) {
      if (is_wanted(spec, kind)) {
        measure(spec, kind, counts);
      }
    }
  }
  constexpr std::size_t kFew = 5;
  for (const char* spec : kLarge) {
    if (is_wanted(spec, CollectiveKind::kAllReduce)) {
      measure(spec,
              CollectiveKind::kAllReduce,
              {.cables = std::min(kFew, counts.cables), .compared = 0, .runs = 3});
    }
  }
}

}  // namespace
}  // namespace tacos

int main(int argc, char** argv) {
  const auto number = [&](int at, std::size_t otherwise) {
    return argc > at ? static_cast<std::size_t>(std::strtoul(argv[at], nullptr, 10)) : otherwise;
  };
  tacos::measure_all(
      {.cables = number(1, 50), .compared = number(2, 0), .runs = static_cast<int>(number(3, 5))},
      argc > 4 ? argv[4] : "");
  return 0;
}
