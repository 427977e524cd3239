// SPDX-License-Identifier: MIT
#include "execute/transports/interfaces.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/socket.h>

namespace tacos::execution {
namespace {

std::uint32_t host_of(const sockaddr* address) {
  sockaddr_in made{};
  std::memcpy(&made, address, sizeof made);
  return made.sin_addr.s_addr;
}

bool is_loopback(const Interface& one) {
  constexpr std::uint32_t kLoopback = 127;
  return ntohl(one.host) >> 24U == kLoopback;
}

}  // namespace

bool names_interface(std::string_view list, std::string_view name) {
  if (list.empty()) {
    return true;
  }
  const bool others = list.front() == '^';
  if (others) {
    list.remove_prefix(1);
  }
  const bool exact = !list.empty() && list.front() == '=';
  if (exact) {
    list.remove_prefix(1);
  }
  bool found = false;
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    const std::string_view one = list.substr(0, comma);
    found = found || (exact ? name == one : !one.empty() && name.starts_with(one));
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return found != others;
}

std::vector<Interface> own_interfaces() {
  std::vector<Interface> all;
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) {
    return all;
  }
  const char* const wanted = std::getenv("TACOS_SOCKET_IFNAME");
  for (const ifaddrs* one = list; one != nullptr; one = one->ifa_next) {
    const bool usable = one->ifa_addr != nullptr && one->ifa_addr->sa_family == AF_INET &&
                        one->ifa_netmask != nullptr && (one->ifa_flags & IFF_UP) != 0;
    if (usable && names_interface(wanted == nullptr ? "" : wanted, one->ifa_name)) {
      all.push_back({.name = one->ifa_name,
                     .host = host_of(one->ifa_addr),
                     .mask = host_of(one->ifa_netmask)});
    }
  }
  ::freeifaddrs(list);
  std::stable_partition(
      all.begin(), all.end(), [](const Interface& one) { return !is_loopback(one); });
  return all;
}

std::vector<std::uint32_t> best_first(const std::vector<Interface>& own,
                                      std::vector<std::uint32_t> theirs,
                                      std::uint32_t channel) {
  const auto near = [&](std::uint32_t host) {
    return std::any_of(own.begin(), own.end(), [&](const Interface& one) {
      return !is_loopback(one) && one.host != host && one.leads_to(host);
    });
  };
  const auto rest = std::stable_partition(theirs.begin(), theirs.end(), near);
  if (rest != theirs.begin()) {
    std::rotate(
        theirs.begin(), theirs.begin() + channel % std::distance(theirs.begin(), rest), rest);
  }
  return theirs;
}

}  // namespace tacos::execution
