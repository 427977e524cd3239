// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tacos/topology.h"

namespace tacos {
namespace {

using ::testing::HasSubstr;

constexpr Bytes kTerabyte{1'000'000'000'000};

Status check(const std::string& spec, Bytes chunk, Bytes all) {
  return check_times(parse_topology_spec(spec).value(), chunk, all);
}

TEST(CheckTimes, LetsTerabytesAndSecondsPass) {
  EXPECT_TRUE(check("mesh:100x100,bw=50GBps,lat=1s", kTerabyte, kTerabyte));
  EXPECT_TRUE(check("mesh:100x100,bw=1GBps", kTerabyte, kTerabyte));
  EXPECT_TRUE(check("ring:8,lat=3600s", kTerabyte, kTerabyte));
  EXPECT_TRUE(check("h100:64", kTerabyte, {1000 * kTerabyte.count}));
  EXPECT_TRUE(check("ring:1", kTerabyte, kTerabyte));
}

TEST(CheckTimes, NamesALinkThatIsTooSlow) {
  const Status slow = check("mesh:3x3,bw=1Bps", {1}, kTerabyte);
  ASSERT_FALSE(slow);
  EXPECT_THAT(slow.error().to_string(),
              HasSubstr("mesh:3x3,bw=1Bps: sending 1 TB over link 0>1 (1 B/s, 500.000 ns)"));
  EXPECT_THAT(slow.error().message, HasSubstr("53 days"));
  EXPECT_THAT(check("ring:2,lat=600000s", {1}, {1}).error().message, HasSubstr("link 0>1"));
}

TEST(CheckTimes, AddsUpHops) {
  EXPECT_TRUE(check("ring:64,lat=3600s", {1}, {1}));
  EXPECT_THAT(check("ring:640,lat=3600s", {1}, {1}).error().message, HasSubstr("across"));
  // Stored and forwarded, a chunk takes its time on every hop.
  EXPECT_TRUE(check("ring:640,bw=1GBps", {kTerabyte.count / 640}, kTerabyte));
  EXPECT_THAT(check("ring:6400,bw=1GBps", kTerabyte, kTerabyte).error().message,
              HasSubstr("a chunk of 1 TB across the network"));
}

TEST(CheckTimes, KnowsThatAWayRoundASlowLinkIsEnough) {
  // Across the slow link a chunk needs 2 days; through all of 100 of them it never has to go.
  const std::vector<std::string> failures{"slow:0-1=0.0001"};
  const Topology slow =
      apply_failures(parse_topology_spec("mesh:10x10,bw=50GBps").value(), failures)->topology;
  EXPECT_TRUE(check_times(slow, kTerabyte, kTerabyte));
}

TEST(CheckTimes, AddsUpTheLatencyOfRoutesThroughSwitches) {
  EXPECT_TRUE(check("leaf-spine:2x2x2,lat=86400s", {1}, {1}));
  EXPECT_FALSE(check("fat-tree:8,lat=86400s", {1}, {1}));
}

TEST(CheckTimes, IgnoresNodesWithoutLinks) {
  const std::vector<std::string> failures{"npu:3"};
  const Topology left =
      apply_failures(parse_topology_spec("mesh:32x32,lat=600s").value(), failures)->topology;
  EXPECT_TRUE(check_times(left, {1}, {1}));
}

}  // namespace
}  // namespace tacos
