// SPDX-License-Identifier: MIT
// Ranks of MPI, and the library's own collectives among them.
#pragma once

#include <mpi.h>

#include "cli/ranks.h"
#include "mpi/mpi_transports.h"

namespace tacos {

class MpiRanks final : public cli::Ranks {
 public:
  MpiRanks(Team& team, MPI_Comm comm) : team_(team), comm_(comm), transports_(team, comm) {}
  ~MpiRanks() override;

  [[nodiscard]] Team& team() override { return team_; }
  [[nodiscard]] Result<Transport*> transport(std::string_view name) override {
    return transports_.get(name);
  }
  void choose(bool takes_part) override;
  [[nodiscard]] bool has(CollectiveKind kind) const override {
    return kind != CollectiveKind::kCustom;
  }
  void call_library(const cli::LibraryCall& call) override;
  [[nodiscard]] bool barrier(std::chrono::milliseconds limit) override;

 private:
  Team& team_;
  MPI_Comm comm_;
  /// Of those who take part.
  MPI_Comm chosen_ = MPI_COMM_NULL;
  MpiTransports transports_;
};

}  // namespace tacos
