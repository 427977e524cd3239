// SPDX-License-Identifier: MIT
// Lanes between processes of one machine: rings of bytes in memory that both ends see.
#pragma once

#include <memory>
#include <span>

#include "tacos/execute.h"

#include "base/parallel/team.h"

namespace tacos::execution {

class SharedMemoryTransport final : public Transport {
 public:
  /// Peers are members of the team, which must last; opening is done by all of them together.
  explicit SharedMemoryTransport(Team& team) : team_(team) {}

  [[nodiscard]] Result<std::unique_ptr<Connection>> open(std::span<const LaneEnd> ends) override;

 private:
  Team& team_;
};

}  // namespace tacos::execution
