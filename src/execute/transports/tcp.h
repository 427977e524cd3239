// SPDX-License-Identifier: MIT
// Lanes that are TCP connections, one each, so that a lane never waits behind another.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "tacos/execute.h"

#include "base/parallel/team.h"

namespace tacos::execution {

class TcpTransport final : public Transport {
 public:
  /// Peers are members of the team, which must last; opening is done by all of them together.
  explicit TcpTransport(Team& team) : team_(team) {}

  [[nodiscard]] Result<std::unique_ptr<Connection>> open(std::span<const LaneEnd> ends) override;

 private:
  Team& team_;
};

}  // namespace tacos::execution
