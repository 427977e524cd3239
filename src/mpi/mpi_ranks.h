// SPDX-License-Identifier: MIT
// Ranks of MPI, and the library's own collectives among them.
#pragma once

#include <memory>

#include <mpi.h>

#include "cli/ranks.h"
#include "mpi/mpi_transport.h"

namespace tacos {

class MpiRanks final : public cli::Ranks {
 public:
  MpiRanks(Team& team, MPI_Comm comm) : team_(team), comm_(comm) {}
  ~MpiRanks() override;

  [[nodiscard]] Team& team() override { return team_; }
  [[nodiscard]] Result<Transport*> transport(std::string_view name) override;
  void choose(bool takes_part) override;
  [[nodiscard]] bool has(CollectiveKind kind) const override {
    return kind != CollectiveKind::kCustom;
  }
  void call_library(const cli::LibraryCall& call) override;
  void barrier() override { MPI_Barrier(comm_); }

 private:
  Team& team_;
  MPI_Comm comm_;
  /// Of those who take part.
  MPI_Comm chosen_ = MPI_COMM_NULL;
  std::unique_ptr<Transport> mpi_;
  std::unique_ptr<Transport> shared_memory_;
  /// The last that was asked for, where it is none of the above.
  std::unique_ptr<Transport> transport_;
};

}  // namespace tacos
