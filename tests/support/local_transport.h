// SPDX-License-Identifier: MIT
// Lanes between executors of one process, which take turns. What happens when is left to chance,
// and as late, or as early, as a transport is allowed to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <tuple>
#include <vector>

#include "tacos/execute.h"

#include "base/numbers/rng.h"

namespace tacos::test {

class LocalNetwork {
 public:
  /// So many messages of a lane does the network itself keep; at 0 a message is with the sender
  /// until it is received.
  LocalNetwork(std::uint64_t seed, std::size_t kept) : rng_(seed), kept_(kept) {}

  /// What a process opens its lanes with; as long as the network.
  [[nodiscard]] Transport& transport(std::uint32_t process);
  /// From now on nothing that this process sends arrives.
  void cut_off(std::uint32_t process) { cut_off_ = process; }

 private:
  friend class LocalConnection;
  friend class LocalTransport;
  struct Side {
    std::deque<std::span<std::byte>> posted;
    /// Of those, how many were taken, and not yet told.
    std::size_t done = 0;
  };
  struct Fifo {
    Side send;
    Side receive;
    /// Messages that the network keeps, having told the sender that it is through.
    std::deque<std::vector<std::byte>> kept;
  };
  using Key = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;

  std::map<Key, Fifo> fifos_;
  std::map<std::uint32_t, std::unique_ptr<Transport>> transports_;
  Rng rng_;
  std::size_t kept_;
  std::uint32_t cut_off_ = ~std::uint32_t{0};
};

}  // namespace tacos::test
