// SPDX-License-Identifier: MIT
// What `run` wants of the processes that it runs on: it knows no MPI.
#pragma once

#include <chrono>
#include <cstddef>
#include <string_view>

#include "tacos/collective.h"
#include "tacos/execute.h"

#include "base/parallel/team.h"

namespace tacos::cli {

/// A collective among those who take part, by the library that the processes have anyway.
struct LibraryCall {
  CollectiveKind kind = CollectiveKind::kAllReduce;
  ElementType type = ElementType::kFloat32;
  ReduceOp op = ReduceOp::kSum;
  /// As Executor::bind has it.
  std::size_t count = 0;
  /// Position of the root among those who take part.
  int root = 0;
  const void* input = nullptr;
  void* output = nullptr;
};

class Ranks {
 public:
  Ranks() = default;
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;
  virtual ~Ranks() = default;

  [[nodiscard]] virtual Team& team() = 0;
  /// Everybody asks for the same.
  [[nodiscard]] virtual Result<Transport*> transport(std::string_view name) = 0;
  /// Who takes part from now on; everybody says so of itself.
  virtual void choose(bool takes_part) = 0;
  /// Whether the library has such a collective.
  [[nodiscard]] virtual bool has(CollectiveKind kind) const = 0;
  /// Only by those who take part.
  virtual void call_library(const LibraryCall& call) = 0;
  /// Waits for everybody, without rest; whether all came before the time was over.
  [[nodiscard]] virtual bool barrier(std::chrono::milliseconds limit) = 0;
};

}  // namespace tacos::cli
