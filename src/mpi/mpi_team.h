// SPDX-License-Identifier: MIT
// The one place that knows MPI, with main.cc: a team whose members are ranks.
#pragma once

#include <vector>

#include <mpi.h>

#include "base/parallel/team.h"

namespace tacos {

class MpiTeam final : public Team {
 public:
  /// `comm` must stay until MPI_Finalize.
  explicit MpiTeam(MPI_Comm comm);

  [[nodiscard]] std::vector<Packet> exchange(std::vector<Packet> packets) override;
  [[nodiscard]] int machine() const override { return machine_; }

 private:
  MPI_Comm comm_;
  int machine_;
};

}  // namespace tacos
