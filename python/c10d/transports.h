// SPDX-License-Identifier: MIT
// How the ranks of a group reach each other: through memory on one machine, by TCP between several.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tacos/execute.h"
#include "tacos/result.h"

#include "base/parallel/team.h"

namespace tacos::torch_backend {

class Transports {
 public:
  /// By all ranks together, which may fail differently. `name` is "auto", "shm" or "tcp".
  [[nodiscard]] static Result<Transports> choose(Team& team, const std::string& name);

  [[nodiscard]] Transport& used() const { return *all_.back(); }

 private:
  /// The last is made of those before it.
  std::vector<std::unique_ptr<Transport>> all_;
};

}  // namespace tacos::torch_backend
