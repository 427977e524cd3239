// SPDX-License-Identifier: MIT
#include "execute/transports/interfaces.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>

namespace tacos::execution {
namespace {

using ::testing::ElementsAre;

std::uint32_t host(const char* text) {
  in_addr address{};
  EXPECT_EQ(::inet_pton(AF_INET, text, &address), 1);
  return address.s_addr;
}

TEST(InterfacesTest, AreNamedAsForNccl) {
  EXPECT_TRUE(names_interface("", "eth0"));
  EXPECT_TRUE(names_interface("eth,ib", "ib0"));
  EXPECT_FALSE(names_interface("eth,ib", "docker0"));
  EXPECT_FALSE(names_interface("^eth,docker", "eth0"));
  EXPECT_TRUE(names_interface("^docker", "eth0"));
  EXPECT_TRUE(names_interface("=eth1", "eth1"));
  EXPECT_FALSE(names_interface("=eth1", "eth10"));
  EXPECT_TRUE(names_interface("^=eth1", "eth10"));
}

TEST(InterfacesTest, WiresComeFirstAndChannelsShareThem) {
  const std::uint32_t narrow = host("255.255.255.254");
  const std::vector<Interface> own{{"data", host("10.255.0.1"), ~std::uint32_t{0}},
                                   {"l0", host("10.128.0.0"), narrow},
                                   {"l1", host("10.128.0.2"), narrow}};
  const std::uint32_t far = host("10.255.0.2");
  const std::uint32_t first = host("10.128.0.1");
  const std::uint32_t second = host("10.128.0.3");
  EXPECT_THAT(best_first(own, {far, first, second}, 0), ElementsAre(first, second, far));
  EXPECT_THAT(best_first(own, {far, first, second}, 1), ElementsAre(second, first, far));
  EXPECT_THAT(best_first(own, {far, first, second}, 2), ElementsAre(first, second, far));
  EXPECT_THAT(best_first(own, {far}, 1), ElementsAre(far));
}

TEST(InterfacesTest, ThereIsOne) {
  EXPECT_FALSE(own_interfaces().empty());
}

}  // namespace
}  // namespace tacos::execution
