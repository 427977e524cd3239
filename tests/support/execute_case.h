// SPDX-License-Identifier: MIT
// A program with data to run it on, and what must come of it by the definition of the collective.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tacos/execute.h"
#include "tacos/program.h"
#include "tacos/topology.h"

#include "support/element_values.h"

namespace tacos::test {

struct ExecuteCase {
  std::string description;
  Program program;
  /// Loaded instead of the program, if there is one; the program is the same written out.
  std::optional<Loop> loop = std::nullopt;
  ElementType type = ElementType::kFloat32;
  ReduceOp op = ReduceOp::kSum;
  /// As Executor::bind has it.
  std::size_t count = 0;
  /// By participant; empty when in order.
  std::vector<std::uint32_t> positions;
  std::uint64_t seed = 1;
  /// Whether sums are the same however they are made, so that they can be foretold.
  bool exact = true;

  [[nodiscard]] const Collective& collective() const { return program.collective; }
  [[nodiscard]] std::size_t participants() const { return collective().num_participants(); }
  /// Participant number of an NPU, if it has one.
  [[nodiscard]] std::optional<std::uint32_t> participant(NodeId npu) const;
};

struct CaseShape {
  std::uint32_t least_npus = 2;
  std::uint32_t most_npus = 16;
  /// Elements of a part, at most.
  std::size_t most_count = 5'000;
  /// Whether exactly `most_npus` take part, all there are.
  bool fixed = false;
};

/// Equal seeds give equal cases: any collective, network, engine, type, operation, size, in place
/// or not.
[[nodiscard]] ExecuteCase any_execute_case(std::uint64_t seed, const CaseShape& shape = {});

/// The buffers of a participant, or of a relay, which has none.
struct CaseBuffers {
  std::vector<std::byte> input;
  std::vector<std::byte> output;
};

/// Filled with what the participant starts with; the output with something else.
[[nodiscard]] CaseBuffers make_buffers(const ExecuteCase& given,
                                       NodeId npu,
                                       const Executor& executor);

/// What the participant ends with; null when nothing.
[[nodiscard]] const std::byte* result_of(const ExecuteCase& given,
                                         NodeId npu,
                                         const CaseBuffers& buffers);

/// Elements of the result that are not what they must be; of sums that are not exact, not near it.
[[nodiscard]] std::size_t wrong_elements(const ExecuteCase& given,
                                         NodeId npu,
                                         const CaseBuffers& buffers);

/// Elements that a participant ends with; of an All-Reduce the same everywhere.
[[nodiscard]] std::size_t result_elements(const ExecuteCase& given, NodeId npu);

/// Runs it in this process, several times; empty when all was right, or else what was not.
[[nodiscard]] std::string run_case(const ExecuteCase& given);

}  // namespace tacos::test
