// SPDX-License-Identifier: MIT
// A schedule on real ranks: loaded once, run and measured for any number of sizes.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tacos/bundle.h"
#include "tacos/execute.h"
#include "tacos/lower.h"

#include "cli/command.h"
#include "cli/ranks.h"
#include "execute/placement.h"

namespace tacos::cli {

struct RunOptions {
  ElementType type = ElementType::kFloat32;
  ReduceOp op = ReduceOp::kSum;
  int iterations = 20;
  /// Whether results are compared with those of the library.
  bool check = false;
  /// Whether receivers keep the order of senders that share a port.
  bool credits = false;
  /// "hosts", or a file with the NPU of every rank; empty: in order.
  std::string map;
  /// "auto", "mpi", "shm" or "tcp".
  std::string transport = "auto";
  std::chrono::milliseconds limit{30'000};
};

/// What was measured for one size: of the slowest rank, and the least of all iterations.
struct Measurement {
  Bytes size;
  /// Of the whole buffer; less than `size` where it does not divide.
  std::uint64_t elements = 0;
  double seconds = 0;
  std::optional<double> library_seconds = std::nullopt;
  std::uint64_t wrong = 0;
  bool checked = false;
};

class RankRun {
 public:
  /// By all ranks, all of which get the error if one fails.
  [[nodiscard]] static Result<RankRun> load(const Bundle& bundle,
                                            Ranks& ranks,
                                            const RunOptions& options);

  /// By all ranks. Throws when somebody does not answer, as the others cannot be told.
  [[nodiscard]] Result<Measurement> measure(Bytes size);

 private:
  RankRun(Ranks& ranks, const RunOptions& options, const Collective& collective)
      : ranks_(&ranks), options_(options), collective_(collective) {}

  [[nodiscard]] Result<Executor> load_executor(const Runnable& runnable) const;
  /// How many elements Executor::bind is told, of a buffer of so many bytes.
  [[nodiscard]] std::size_t count_for(Bytes size) const;
  /// Elements of a buffer of this rank; 0 when it has none.
  [[nodiscard]] std::size_t elements(const BufferExtent& extent, std::size_t count) const;
  struct Buffers {
    std::vector<std::byte> input;
    std::vector<std::byte> ours;
    std::vector<std::byte> theirs;
  };
  [[nodiscard]] Buffers make_buffers(std::size_t count) const;
  /// So that what is not written shows.
  void spoil(Buffers& buffers) const;
  /// All begin together.
  void meet();
  void run_ours(Buffers& buffers);
  void run_library(Buffers& buffers, std::size_t count);

  Ranks* ranks_;
  RunOptions options_;
  Collective collective_;
  execution::Placement placement_;
  /// Of this rank.
  NodeId npu_;
  bool takes_part_ = false;
  bool is_root_ = false;
  std::optional<Executor> executor_;
};

}  // namespace tacos::cli
