// SPDX-License-Identifier: MIT
// The optima of fourteen networks, computed elsewhere, for 1 GiB without latency.
#include <ostream>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tacos/bound.h"

namespace tacos {
namespace {

struct Row {
  const char* spec;
  const char* all_gather_ms;
  const char* reduce_scatter_ms;
  const char* broadcast_ms;
  const char* all_reduce_ms;
};

std::ostream& operator<<(std::ostream& out, const Row& row) {
  return out << row.spec;
}

class Theory : public ::testing::TestWithParam<Row> {
 protected:
  /// Milliseconds to four decimals; checks the certificate on the way.
  static std::string bandwidth_bound(const Topology& topology, CollectiveKind kind) {
    const Collective collective =
        Collective::over_all(kind, Bytes{1LL << 30U}, 1, topology.num_npus()).value();
    const BoundReport report = compute_bounds(topology, collective).value();
    const Result<Ticks> checked =
        check_certificate(topology, collective, report.bandwidth.certificate);
    if (!checked || *checked != report.bandwidth.time) {
      return checked ? "certificate proves another time" : checked.error().message;
    }
    return fmt::format("{:.4f}", static_cast<double>(report.bandwidth.time.ps) * 1e-9);
  }
};

TEST_P(Theory, BoundsAgreeToFourDecimals) {
  const Row& row = GetParam();
  const Topology topology = parse_topology_spec(row.spec).value();
  EXPECT_EQ(bandwidth_bound(topology, CollectiveKind::kAllGather), row.all_gather_ms);
  EXPECT_EQ(bandwidth_bound(topology, CollectiveKind::kReduceScatter), row.reduce_scatter_ms);
  EXPECT_EQ(bandwidth_bound(topology, CollectiveKind::kBroadcast), row.broadcast_ms);
  EXPECT_EQ(bandwidth_bound(topology, CollectiveKind::kReduce), row.broadcast_ms);
  EXPECT_EQ(bandwidth_bound(topology, CollectiveKind::kAllReduce), row.all_reduce_ms);
}

INSTANTIATE_TEST_SUITE_P(
    Table,
    Theory,
    ::testing::Values(
        Row{"mesh:4x4", "10.0663", "10.0663", "10.7374", "13.4218"},
        Row{"mesh:5x5", "10.3079", "10.3079", "10.7374", "12.8849"},
        Row{"mesh:8x8", "10.5696", "10.5696", "10.7374", "12.0796"},
        Row{"mesh:3x3x3", "6.8932", "6.8932", "7.1583", "10.3397"},
        Row{"mesh:4x4x4", "7.0464", "7.0464", "7.1583", "9.3952"},
        Row{"torus:4x4x4", "3.5232", "3.5232", "3.5791", "7.0464"},
        Row{"torus:8x8", "5.2848", "5.2848", "5.3687", "10.5696"},
        Row{"mesh:4x4,bw=100GBps/50GBps", "6.7109", "6.7109", "7.1583", "8.9478"},
        Row{"mesh:8x8,bw=100GBps/50GBps", "7.0464", "7.0464", "7.1583", "8.0531"},
        Row{"dragonfly:4x5,bw=400GBps/200GBps", "1.0737", "1.0737", "1.3422", "2.1475"},
        Row{"ring:2*fc:4*switch:8,bw=200GBps/100GBps/50GBps",
            "2.3488",
            "2.3488",
            "2.6844",
            "4.6976"},
        Row{"dgx1", "6.2635", "6.2635", "7.1583", "12.5270"},
        Row{"switch:8*switch:4,bw=300GBps/25GBps", "4.0265", "4.0265", "5.3687", "8.0531"},
        Row{"a100:2", "3.0973", "3.0973", "5.3687", "6.1947"}));

}  // namespace
}  // namespace tacos
