// SPDX-License-Identifier: MIT
// What each rule of the port matcher is worth: All-Gather of 1 GiB, every rule on and off, in
// percent of the exact bandwidth bound. Every schedule is verified.
#include <algorithm>
#include <array>
#include <cstdlib>

#include <fmt/format.h>

#include "tacos/bound.h"
#include "tacos/verify.h"

#include "replay/retime.h"
#include "synthesis/matching/ports/port_matcher.h"

namespace tacos {
namespace {

constexpr std::array kNetworks{"torus:4x4x4",
                               "torus:8x8",
                               "mesh:8x8,bw=100GBps/50GBps",
                               "dragonfly:4x5,bw=400GBps/200GBps",
                               "ring:2*fc:4*switch:8,bw=200GBps/100GBps/50GBps",
                               "dgx1",
                               "switch:8*switch:4,bw=300GBps/25GBps",
                               "a100:2",
                               "h100:4",
                               "dgx2:2"};

struct Variant {
  const char* name;
  matching::PortOptions options;
  /// Chunks per NPU are multiplied by this, so that transfers stay as long.
  std::int64_t chunks = 1;
};

const std::array kVariants{
    Variant{"all rules", {}},
    Variant{"duplicates allowed", {.duplicates = matching::Duplicates::kAllow}},
    Variant{"no back-log rule", {.duplicates = matching::Duplicates::kAvoidAll}},
    Variant{"rarity by group", {.rarity = matching::Rarity::kNeighbourhoods}},
    Variant{"2 share, all links", {.share = 2}, 2},
    Variant{"4 share, all links", {.share = 4}, 4},
    Variant{"16 share, fast links", {.share = 16, .sharing = matching::Sharing::kFastLinks}, 2},
};

double percent(const Topology& topology,
               const matching::PortOptions& options,
               std::int64_t chunks) {
  const Collective collective =
      *Collective::over_all(CollectiveKind::kAllGather, {1LL << 30U}, chunks, topology.num_npus());
  const SpreadTask task = spread_task(collective, Direction::kWithLinks, topology.num_npus());
  const Schedule schedule = replay::retime(
      topology, collective, LinkModel::kHold, *matching::match_ports(topology, task, options));
  if (!verify(topology, collective, schedule)->valid()) {
    fmt::print(stderr, "{}: a schedule is wrong\n", topology.name());
    std::exit(1);
  }
  const BoundReport bound = *compute_bounds(topology, collective);
  return 100.0 * static_cast<double>(bound.bandwidth.time.ps) /
         static_cast<double>(schedule.collective_time().ps);
}

}  // namespace
}  // namespace tacos

int main() {
  using namespace tacos;  // NOLINT
  fmt::print("{:48}", "best over 1..32 chunks per NPU, % of the bound");
  for (const Variant& variant : kVariants) {
    fmt::print(" {:>20}", variant.name);
  }
  fmt::print("\n");
  for (const char* spec : kNetworks) {
    const Topology topology = *parse_topology_spec(spec);
    fmt::print("{:48}", spec);
    for (const Variant& variant : kVariants) {
      double best = 0;
      for (std::int64_t chunks = 1; chunks <= 32; chunks *= 2) {
        best = std::max(best, percent(topology, variant.options, chunks * variant.chunks));
      }
      fmt::print(" {:20.1f}", best);
    }
    fmt::print("\n");
  }
}
