// SPDX-License-Identifier: MIT
// Runs the program of one NPU on real data, with others who run theirs.
//
// An executor knows programs. How messages get from one process to another is the business of a
// transport; how long they are, both ends know, so that a message is bytes and nothing else, and
// what is empty is not sent.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "tacos/ids.h"
#include "tacos/loop.h"
#include "tacos/program.h"
#include "tacos/result.h"

namespace tacos {

namespace execution {
class Machine;
struct Script;
}  // namespace execution

enum class ElementType : std::uint8_t {
  kFloat32,
  kFloat64,
  kBfloat16,
  kFloat16,
  kInt8,
  kUint8,
  kInt32,
  kInt64,
  kComplex64,   ///< two float32; has no order, so no minimum and no maximum
  kComplex128,  ///< two float64
};
[[nodiscard]] std::string_view to_string(ElementType type);
[[nodiscard]] std::size_t element_bytes(ElementType type);
[[nodiscard]] std::span<const ElementType> element_types();
/// "float32", "bfloat16", "int8" and so on, with "did you mean" on failure.
[[nodiscard]] Result<ElementType> parse_element_type(std::string_view name);

/// All of them commute, bit for bit but for what a NaN carries.
enum class ReduceOp : std::uint8_t { kSum, kMin, kMax, kProd, kAverage };
[[nodiscard]] std::string_view to_string(ReduceOp op);
[[nodiscard]] std::span<const ReduceOp> reduce_ops();
/// "sum", "min", "max", "prod" or "avg", with "did you mean" on failure.
[[nodiscard]] Result<ReduceOp> parse_reduce_op(std::string_view name);
/// Fails where the type has no such operation.
[[nodiscard]] Status check_reduction(ElementType type, ReduceOp op);

/// What a process has of a lane: it sends to a process, or receives from one.
struct LaneEnd {
  LaneRole role = LaneRole::kSend;
  /// A process, not an NPU.
  std::uint32_t peer = 0;
  std::uint32_t channel = 0;
  /// At most so many messages are posted at once.
  std::uint32_t depth = 1;
};

/// The lanes of one program, opened at both ends. The i-th message that is posted at one end is the
/// i-th that is received at the other, and both have the same length, which is not zero.
class Connection {
 public:
  Connection() = default;
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  virtual ~Connection() = default;

  /// The bytes must stay as they are until the message is complete; then they may be overwritten.
  virtual void post_send(std::uint32_t end, std::span<const std::byte> bytes) = 0;
  virtual void post_receive(std::uint32_t end, std::span<std::byte> bytes) = 0;
  /// Moves what can be moved and says which ends have completed their oldest message, an end as
  /// often as it has; until the next call. Does not wait.
  [[nodiscard]] virtual Result<std::span<const std::uint32_t>> progress() = 0;
  /// Called when so many looks in a row found nothing: lets others have the core, for a millisecond
  /// at most, and no longer than until something can move where it can tell.
  virtual void wait(std::uint32_t looks);
};

/// What opens lanes. All processes open the same programs, in the same order.
class Transport {
 public:
  Transport() = default;
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;
  virtual ~Transport() = default;

  [[nodiscard]] virtual Result<std::unique_ptr<Connection>> open(std::span<const LaneEnd> ends) = 0;
};

struct ExecuteOptions {
  /// By NPU: the process that is it; empty when NPUs are processes in order.
  std::vector<std::uint32_t> processes;
  /// By participant: where its part is in buffers that have one for each; empty when in order.
  std::vector<std::uint32_t> positions;
  /// Messages of a lane that are posted at once, so that the wire has something to do.
  std::uint32_t depth = 8;
  /// So long without any message, and a run ends with an error.
  std::chrono::milliseconds limit{30'000};
};

struct ExecuteStats {
  std::uint64_t runs = 0;
  std::uint64_t messages = 0;
  /// Messages that came before their place was free, and were kept elsewhere meanwhile.
  std::uint64_t staged = 0;
};

/// The program of one NPU, ready to be run any number of times. Not for several threads at once.
class Executor {
 public:
  /// The whole program is looked at, as only a sender may know how long a message is. Fails where
  /// the transport does.
  [[nodiscard]] static Result<Executor> load(const Program& program,
                                             NodeId npu,
                                             Transport& transport,
                                             const ExecuteOptions& options = {});
  /// The first round of all NPUs is looked at, and all rounds of this one are written out.
  [[nodiscard]] static Result<Executor> load(const Loop& loop,
                                             NodeId npu,
                                             Transport& transport,
                                             const ExecuteOptions& options = {});
  Executor(Executor&& other) noexcept;
  Executor& operator=(Executor&& other) noexcept;
  ~Executor();

  /// `count` as MPI and NCCL have it: elements of the whole buffer, or, of collectives that deal
  /// parts out, of one part. Everybody binds to the same. Takes what memory runs need.
  [[nodiscard]] Status bind(std::size_t count, ElementType type, ReduceOp op);
  /// What input and output must have; in place, what the two share is counted as one of them.
  [[nodiscard]] std::size_t input_bytes() const;
  [[nodiscard]] std::size_t output_bytes() const;

  /// Does all of it; every participant does so at about the same time. Allocates nothing. In place,
  /// the buffer is that which the program names: see buffer_slots. A buffer without slots may be
  /// null. After a failure nothing more can be run.
  [[nodiscard]] Status run(const void* input, void* output);
  /// The same bit by bit: one start, then calls that do what can be done without waiting, until one
  /// says that all is done.
  void start(const void* input, void* output);
  [[nodiscard]] Result<bool> advance();
  /// Between two such calls: lets others have the core where nothing has moved for a while.
  void pause();

  [[nodiscard]] const ExecuteStats& stats() const;

 private:
  explicit Executor(std::unique_ptr<execution::Machine> machine);
  [[nodiscard]] static Result<Executor> load_script(execution::Script&& script,
                                                    Transport& transport,
                                                    const ExecuteOptions& options);
  std::unique_ptr<execution::Machine> machine_;
};

}  // namespace tacos
