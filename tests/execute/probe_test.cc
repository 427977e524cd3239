// SPDX-License-Identifier: MIT
#include "execute/probe.h"

#include <set>

#include <gmock/gmock.h>
#include <rapidcheck.h>

namespace tacos::execution {
namespace {

TEST(ProbeTest, NobodyHasTwoWiresInARound) {
  EXPECT_TRUE(rc::check("every wire once, and no process twice in a round", [] {
    const auto processes = *rc::gen::inRange<std::uint32_t>(2, 9);
    std::vector<Wire> wires(*rc::gen::inRange<std::size_t>(0, 30));
    for (Wire& wire : wires) {
      wire.from = *rc::gen::inRange<std::uint32_t>(0, processes);
      wire.to = (wire.from + *rc::gen::inRange<std::uint32_t>(1, processes)) % processes;
    }
    std::multiset<std::uint32_t> seen;
    for (const std::vector<std::uint32_t>& round : disjoint_rounds(wires)) {
      std::set<std::uint32_t> busy;
      for (const std::uint32_t w : round) {
        seen.insert(w);
        RC_ASSERT(busy.insert(wires[w].from).second);
        RC_ASSERT(busy.insert(wires[w].to).second);
      }
    }
    RC_ASSERT(seen.size() == wires.size());
    RC_ASSERT(std::set<std::uint32_t>(seen.begin(), seen.end()).size() == wires.size());
  }));
}

}  // namespace
}  // namespace tacos::execution
