// SPDX-License-Identifier: MIT
// The network interfaces of this machine, as far as TCP is to use them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tacos::execution {

/// An IPv4 address, in the order of the network, and which bits of it are that of the wire.
struct Interface {
  std::string name;
  std::uint32_t host = 0;
  std::uint32_t mask = 0;

  /// Whether the other end of its wire, or somebody on it, has this address.
  [[nodiscard]] bool leads_to(std::uint32_t other) const {
    return mask != ~std::uint32_t{0} && (host & mask) == (other & mask);
  }
};

/// Whether a list names an interface: `eth,ib` those that begin so, `^eth` all others, `=eth0`
/// exactly that one, as NCCL_SOCKET_IFNAME has it. An empty list names all.
[[nodiscard]] bool names_interface(std::string_view list, std::string_view name);

/// Those that TACOS_SOCKET_IFNAME names, loopback last.
[[nodiscard]] std::vector<Interface> own_interfaces();

/// The addresses of another machine in the order in which to try them: those at the other ends of
/// our own wires first, beginning with another one for each channel, so that channels between two
/// machines with several wires use them all.
[[nodiscard]] std::vector<std::uint32_t> best_first(const std::vector<Interface>& own,
                                                    std::vector<std::uint32_t> theirs,
                                                    std::uint32_t channel);

}  // namespace tacos::execution
