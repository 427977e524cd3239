// SPDX-License-Identifier: MIT
// What a repair costs and how good it is: All-Gather, Reduce-Scatter and All-Reduce of 1 GiB on 512
// NPUs after one dead cable, each of many taken at random, on one thread; All-Reduce on larger
// meshes. Times are the least CPU time of several runs, since others may use the machine: of the
// repair alone, and with the verification of its schedule. The last columns compare with a
// synthesis at default effort of the same broken network, for the first cables only, since that
// takes seconds each. The table in docs/adr/0105 is
//
//   repair_bench 50 10
//
// usage: repair_bench CABLES [COMPARED [RUNS [PART-OF-A-NAME]]]
#include "tacos/repair.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "tacos/synthesize.h"
#include "tacos/verify.h"

#include "base/numbers/rng.h"

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

double cpu_milliseconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) * 1e-6;
}

[[noreturn]] void give_up(const std::string& why) {
  fmt::print(stderr, "{}\n", why);
  std::exit(1);
}

template <class T>
T taken(Result<T> result) {
  if (!result) {
    give_up(result.error().to_string());
  }
  return *std::move(result);
}

Problem problem_of(const Topology& topology, CollectiveKind kind) {
  Problem problem{.kind = kind, .size = {1LL << 30U}, .participants = {}};
  for (std::uint32_t npu = 0; npu < topology.num_npus(); ++npu) {
    problem.participants.emplace_back(npu);
  }
  return problem;
}

Bundle bundle_of(const Topology& topology, CollectiveKind kind) {
  Synthesis made =
      taken(synthesize(topology, problem_of(topology, kind), {.effort = kLeastEffort}));
  return {.topology = topology,
          .collective = *std::move(made.collective),
          .link_model = LinkModel::kHold,
          .schedule = *std::move(made.schedule),
          .engine = std::move(made.engine),
          .seed = 1};
}

/// Different ones, the same in every run.
std::vector<std::string> cables_of(const Topology& topology, std::size_t count) {
  Rng rng(1);
  std::vector<std::string> cables;
  while (cables.size() < count) {
    const Link& link = topology.link(LinkId(rng.below(topology.num_links())));
    const auto ends = std::minmax(link.src, link.dst);
    std::string cable = fmt::format("link:{}-{}", ends.first.value(), ends.second.value());
    if (std::find(cables.begin(), cables.end(), cable) == cables.end()) {
      cables.push_back(std::move(cable));
    }
  }
  return cables;
}

void measure(const char* spec, CollectiveKind kind, const Counts& counts) {
  const Topology topology = taken(parse_topology_spec(spec));
  const Repairer repairer = taken(Repairer::make(bundle_of(topology, kind)));
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
      const Synthesis full = taken(synthesize(bundle.topology, problem_of(topology, kind)));
      const double ratio = static_cast<double>(bundle.schedule.collective_time().ps) /
                           static_cast<double>(full.schedule->collective_time().ps);
      slower.add(100 * (ratio - 1));
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
