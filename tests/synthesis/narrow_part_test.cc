// SPDX-License-Identifier: MIT
#include "synthesis/trees/packing/narrow_part.h"

#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/problems.h"

namespace tacos::trees {
namespace {

NarrowPart part_of(const std::string& spec, const std::vector<std::string>& failures) {
  const Topology topology = apply_failures(testing::network(spec), failures)->topology;
  return narrowest_part(topology, std::vector<std::int64_t>(topology.num_links(), 1));
}

TEST(NarrowPart, IsTheCornerThatLostACable) {
  // Three cables touch (0,0) and (1,0), or (0,0) and (0,1).
  for (const char* failure : {"link:1-2", "link:16-32"}) {
    const NarrowPart part = part_of("mesh:16x32", {failure});
    EXPECT_EQ(part.npus, 2) << failure;
    EXPECT_EQ(part.links.size(), 6U) << failure;
  }
  // Seven touch the square of (0,0) and (1,1), or of (14,30) and (15,31).
  for (const char* failure : {"link:17-18", "link:493-494"}) {
    const NarrowPart square = part_of("mesh:16x32", {failure});
    EXPECT_EQ(square.npus, 4) << failure;
    EXPECT_EQ(square.links.size(), 14U) << failure;
  }
  // Eleven touch the six NPUs of (13,30) and (15,31).
  const NarrowPart six = part_of("mesh:16x32", {"link:492-493"});
  EXPECT_EQ(six.npus, 6);
  EXPECT_EQ(six.links.size(), 22U);
}

TEST(NarrowPart, HasEveryLinkThatTouchesItOnceAndNoFailedOne) {
  const Topology topology = apply_failures(testing::network("mesh:4x4"), {{"link:1-2"}})->topology;
  const NarrowPart part =
      narrowest_part(topology, std::vector<std::int64_t>(topology.num_links(), 1));
  const std::set<LinkId> links(part.links.begin(), part.links.end());
  EXPECT_EQ(links.size(), part.links.size());
  for (const LinkId link : links) {
    EXPECT_FALSE(topology.failed(link));
  }
  // Between two NPUs of the part and to one outside, both ways.
  EXPECT_EQ(part.npus, 2);
  EXPECT_EQ(links.size(), 6U);
}

TEST(NarrowPart, IsNothingOfOneNpu) {
  EXPECT_EQ(part_of("ring:1", {}).npus, 0);
}

TEST(NarrowPart, IsNothingWhereAllAreAlike) {
  EXPECT_EQ(part_of("torus:4x4", {}).npus, 0);
  EXPECT_TRUE(part_of("torus:4x4", {}).links.empty());
}

}  // namespace
}  // namespace tacos::trees
