// SPDX-License-Identifier: MIT
// Lanes that are messages of MPI. A channel is a tag: messages of one tag between two ranks keep
// their order, also from one program to the next.
#pragma once

#include <memory>
#include <span>

#include <mpi.h>

#include "tacos/execute.h"

namespace tacos {

class MpiTransport final : public Transport {
 public:
  /// Peers are ranks of `comm`, which is copied: its messages and ours never meet.
  explicit MpiTransport(MPI_Comm comm);
  ~MpiTransport() override;

  [[nodiscard]] Result<std::unique_ptr<Connection>> open(std::span<const LaneEnd> ends) override;

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;
};

}  // namespace tacos
