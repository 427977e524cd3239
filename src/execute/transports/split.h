// SPDX-License-Identifier: MIT
// A transport for each pair of processes.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "tacos/execute.h"

namespace tacos::execution {

class SplitTransport final : public Transport {
 public:
  /// `choice` has for every peer the number of its transport. Both ends of a pair choose the same.
  /// Transports must last.
  SplitTransport(std::vector<Transport*> transports, std::vector<std::uint32_t> choice)
      : transports_(std::move(transports)), choice_(std::move(choice)) {}

  [[nodiscard]] Result<std::unique_ptr<Connection>> open(std::span<const LaneEnd> ends) override;

 private:
  std::vector<Transport*> transports_;
  std::vector<std::uint32_t> choice_;
};

}  // namespace tacos::execution
