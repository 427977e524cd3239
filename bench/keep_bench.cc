// SPDX-License-Identifier: MIT
// The two ways to repair a schedule, side by side: kept and afresh, on networks of all sizes after
// one dead cable, 1 GiB, one thread. Keeping is measured where a repair would not try it, too. The
// rules of src/repair that say which way is gone (kFewMoves, kSlackPercent) rest on this table and
// on the one that follows it: what comes of other slacks, over all cables (docs/adr/0107).
//
//   keep_bench 8
//
// usage: keep_bench CABLES [PART-OF-A-NAME]
#include "repair/keep.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "tacos/repair.h"
#include "tacos/verify.h"

#include "repair_cases.h"

namespace tacos {
namespace {

constexpr std::array kNetworks{
    "mesh:4x4", "mesh:8x8", "mesh:8x16", "mesh:16x16", "torus:4x4x4", "dgx1", "h100:2", "h100:4"};
constexpr std::array kKinds{CollectiveKind::kAllGather,
                            CollectiveKind::kReduceScatter,
                            CollectiveKind::kBroadcast,
                            CollectiveKind::kReduce,
                            CollectiveKind::kGather,
                            CollectiveKind::kAllToAll};

struct Made {
  double milliseconds = 0;
  double takes = 0;
};
struct Pair {
  double before = 0;
  Made kept;
  Made fresh;
};

double microseconds(const Schedule& schedule) {
  return static_cast<double>(schedule.collective_time().ps) * 1e-6;
}

/// The shorter of two runs.
template <class Make>
Made made_by(const Make& make) {
  constexpr int kRuns = 2;
  Made made{.milliseconds = 1e9};
  for (int run = 0; run < kRuns; ++run) {
    const double begin = cpu_milliseconds();
    const auto result = make();
    made.milliseconds = std::min(made.milliseconds, cpu_milliseconds() - begin);
    const Bundle& bundle = result.bundle;
    if (!taken(verify(bundle.topology, bundle.collective, bundle.schedule)).valid()) {
      give_up("a schedule is wrong");
    }
    made.takes = microseconds(bundle.schedule);
  }
  return made;
}

std::vector<Pair> measure(const char* spec, CollectiveKind kind, std::size_t num_cables) {
  const Topology topology = taken(parse_topology_spec(spec));
  const Bundle before = bundle_of(topology, kind, kDefaultEffort);
  const std::optional<repairing::Copies> copies = taken(repairing::copies_of(before));
  if (!copies) {
    return {};
  }
  const Repairer repairer = taken(Repairer::make(before));
  std::vector<Pair> pairs;
  Pair sum;
  for (const std::string& cable : cables_of(topology, num_cables)) {
    Pair pair{.before = microseconds(before.schedule), .kept = {}, .fresh = {}};
    const std::vector<std::string> failures{cable};
    pair.fresh = made_by(
        [&] { return taken(repairer.repair({.failures = failures}, {.way = RepairWay::kFresh})); });
    pair.kept = made_by([&] {
      Repair repair{.bundle = before};
      repair.bundle.topology = taken(apply_failures(topology, failures)).topology;
      repair.bundle.schedule =
          repairing::keep(before, *copies, repair.bundle.topology).value().schedule;
      return repair;
    });
    for (const auto& [all, one] : {std::pair(&sum.kept, &pair.kept), {&sum.fresh, &pair.fresh}}) {
      all->milliseconds += one->milliseconds;
      all->takes += one->takes;
    }
    pairs.push_back(pair);
  }
  const auto count = static_cast<double>(pairs.size());
  fmt::print("| {} {} | {} | {:.0f} | {:.2f} | {:.0f} | {:.2f} | {:.0f} |\n",
             spec,
             to_string(kind),
             before.schedule.num_moves(),
             microseconds(before.schedule),
             sum.kept.milliseconds / count,
             sum.kept.takes / count,
             sum.fresh.milliseconds / count,
             sum.fresh.takes / count);
  std::fflush(stdout);
  return pairs;
}

/// What a repair takes to make, and how much longer than the best of both ways its schedule does,
/// if what is kept is taken at once where it is within the slack.
void judge(const std::vector<Pair>& pairs, double slack) {
  double milliseconds = 0;
  double longer = 0;
  double most = 0;
  for (const Pair& pair : pairs) {
    const bool enough = pair.kept.takes <= pair.before * (1 + slack / 100);
    const double best = std::min(pair.kept.takes, pair.fresh.takes);
    const double loss = enough ? 100 * (pair.kept.takes / best - 1) : 0;
    milliseconds += pair.kept.milliseconds + (enough ? 0 : pair.fresh.milliseconds);
    longer += loss;
    most = std::max(most, loss);
  }
  const auto count = static_cast<double>(pairs.size());
  fmt::print("| {}% | {} | {:.1f} | {:.2f}% | {:.1f}% |\n",
             slack,
             pairs.size(),
             milliseconds / count,
             longer / count,
             most);
}

void measure_all(std::size_t cables, const std::string& part) {
  fmt::print(
      "| | moves | before, us | kept: made in, ms | takes, us | afresh: made in, ms | takes, us |\n"
      "|---|---|---|---|---|---|---|\n");
  std::vector<Pair> all;
  for (const char* spec : kNetworks) {
    for (const CollectiveKind kind : kKinds) {
      if (fmt::format("{} {}", spec, to_string(kind)).find(part) != std::string::npos) {
        const std::vector<Pair> some = measure(spec, kind, cables);
        all.insert(all.end(), some.begin(), some.end());
      }
    }
  }
  fmt::print(
      "\n| slack | repairs | made in, ms | longer than the better way: mean | most |\n"
      "|---|---|---|---|---|\n");
  for (const double slack : {-100.0, 0.0, 1.0, 2.0, 5.0, 10.0}) {
    judge(all, slack);
  }
}

}  // namespace
}  // namespace tacos

int main(int argc, char** argv) {
  tacos::measure_all(argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 8, argc > 2 ? argv[2] : "");
  return 0;
}
