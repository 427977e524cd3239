// SPDX-License-Identifier: MIT
// The transports that ranks of MPI have, by name.
#pragma once

#include <memory>
#include <string_view>

#include <mpi.h>

#include "tacos/execute.h"

#include "base/parallel/team.h"

namespace tacos {

class MpiTransports {
 public:
  /// Members of the team are ranks of the communicator; both must last.
  MpiTransports(Team& team, MPI_Comm comm) : team_(team), comm_(comm) {}

  /// "mpi", "shm", "tcp", or "auto": shared memory on a machine, MPI between them. All ranks ask
  /// for the same, and what they get is as long as this.
  [[nodiscard]] Result<Transport*> get(std::string_view name);

 private:
  [[nodiscard]] Transport* mpi();
  [[nodiscard]] Transport* shared_memory();

  Team& team_;
  MPI_Comm comm_;
  std::unique_ptr<Transport> mpi_;
  std::unique_ptr<Transport> shared_memory_;
  std::unique_ptr<Transport> tcp_;
  std::unique_ptr<Transport> split_;
};

}  // namespace tacos
