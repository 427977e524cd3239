// SPDX-License-Identifier: MIT
// One connection for programs that send the same messages and are never run at the same time, such
// as that of a collective in place and not: then some processes may run one of them while others
// run another.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "tacos/execute.h"

namespace tacos::execution {

class CommonLanes final : public Transport {
 public:
  explicit CommonLanes(Transport& transport) : transport_(transport) {}

  /// The first opens the lanes; others must have the same ends, in the same order, and get the same
  /// connection.
  [[nodiscard]] Result<std::unique_ptr<Connection>> open(std::span<const LaneEnd> ends) override;

 private:
  Transport& transport_;
  std::shared_ptr<Connection> connection_;
  std::vector<LaneEnd> ends_;
};

}  // namespace tacos::execution
