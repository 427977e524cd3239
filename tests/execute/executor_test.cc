// SPDX-License-Identifier: MIT
#include <cstdlib>
#include <new>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "tacos/execute.h"
#include "tacos/lower.h"

#include "support/execute_case.h"
#include "support/local_transport.h"
#include "support/problems.h"

namespace {
// Counts what is allocated while programs run.
std::size_t allocations = 0;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)
}  // namespace

// Not inlined, or the compiler sees that what is freed was not allocated by new.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  ++allocations;
  void* const memory = std::malloc(bytes);
  if (memory == nullptr) {
    throw std::bad_alloc();
  }
  return memory;
}
// Without it sanitizers see their own memory given back to ours.
[[gnu::noinline]] void* operator new(std::size_t bytes, const std::nothrow_t& /*tag*/) noexcept {
  ++allocations;
  return std::malloc(bytes);
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t /*bytes*/) noexcept {
  std::free(memory);
}

namespace tacos {
namespace {

using test::ExecuteCase;
using test::LocalNetwork;
using testing::network;
using testing::problem;
using testing::synthesize_verified;

Program program_of(const std::string& spec,
                   CollectiveKind kind,
                   const std::string& engine,
                   std::optional<std::int64_t> chunks = std::nullopt,
                   bool in_place = false) {
  const Topology topology = network(spec);
  const Synthesis made =
      synthesize_verified(topology, problem(topology, kind, 1 << 16, chunks), {.engine = engine});
  return *lower(topology, *made.collective, *made.schedule, {.in_place = in_place});
}

RC_GTEST_PROP(Executor, EndsWithTheRightResult, ()) {
  const ExecuteCase given = test::any_execute_case(*rc::gen::arbitrary<std::uint64_t>(),
                                                   {.most_npus = 9, .most_count = 500});
  RC_LOG() << given.description << '\n';
  RC_ASSERT(test::run_case(given) == "");
}

TEST(Executor, TakesCountsSmallerThanTheNumberOfChunks) {
  for (const std::size_t count : {0U, 1U, 2U, 7U, 17U}) {
    ExecuteCase given;
    given.program = program_of("mesh:3x3", CollectiveKind::kAllReduce, "trees", 64);
    given.count = count;
    EXPECT_EQ(test::run_case(given), "") << count;
    given.program = program_of("mesh:3x3", CollectiveKind::kAllGather, "matching", 4, true);
    EXPECT_EQ(test::run_case(given), "") << count;
  }
}

// However sums are made, everybody must have the same: by any engine, small or large.
TEST(Executor, EndsAnAllReduceWithTheSameBitsEverywhere) {
  for (const char* const spec : {"ring:3",
                                 "ring:6",
                                 "fc:5",
                                 "switch:3",
                                 "switch:6",
                                 "switch:9",
                                 "mesh:3x3",
                                 "torus:3x3",
                                 "dgx1"}) {
    const Topology topology = network(spec);
    for (const std::int64_t size : {64, 4'096, 1 << 18}) {
      const Problem task = problem(topology, CollectiveKind::kAllReduce, size);
      for (const std::string_view engine : engine_names()) {
        const SynthesisOptions options{.engine = std::string(engine),
                                       .link_model = LinkModel::kPipelined};
        const Result<Synthesis> made = engine_handles(engine, topology, task)
                                           ? synthesize(topology, task, options)
                                           : Result<Synthesis>(Error());
        if (!made || made->status != SynthesisStatus::kFeasible) {
          continue;
        }
        ExecuteCase given;
        given.program = *lower(topology, *made->collective, *made->schedule);
        given.count = 97;
        given.exact = false;
        EXPECT_EQ(test::run_case(given), "") << spec << " " << engine << " " << size;
      }
    }
  }
}

TEST(Executor, AllocatesNothingWhileItRuns) {
  const Program program = program_of("ring:2", CollectiveKind::kAllReduce, "ring");
  // A transport without a network: what is posted is complete, in turn.
  class Instant final : public Transport {
   public:
    class Line final : public Connection {
     public:
      void post_send(std::uint32_t end, std::span<const std::byte>) override { post(end); }
      void post_receive(std::uint32_t end, std::span<std::byte>) override { post(end); }
      Result<std::span<const std::uint32_t>> progress() override {
        done_.swap(posted_);
        posted_.clear();
        return std::span<const std::uint32_t>(done_);
      }
      Line() {
        done_.reserve(100);
        posted_.reserve(100);
      }

     private:
      void post(std::uint32_t end) { posted_.push_back(end); }
      std::vector<std::uint32_t> posted_;
      std::vector<std::uint32_t> done_;
    };
    Result<std::unique_ptr<Connection>> open(std::span<const LaneEnd>) override {
      return std::unique_ptr<Connection>(std::make_unique<Line>());
    }
  } instant;
  Executor executor = *Executor::load(program, NodeId(0), instant);
  ASSERT_TRUE(executor.bind(1'000, ElementType::kFloat32, ReduceOp::kSum));
  std::vector<float> input(1'000, 1);
  std::vector<float> output(1'000, 0);
  const std::size_t before = allocations;
  for (int run = 0; run < 10; ++run) {
    ASSERT_TRUE(executor.run(input.data(), output.data()));
  }
  EXPECT_EQ(allocations, before);
  EXPECT_EQ(executor.stats().runs, 10U);
}

TEST(Executor, SaysWhichLaneWaitedForWhom) {
  const Program program = program_of("ring:4", CollectiveKind::kAllGather, "ring");
  LocalNetwork lines(1, 2);
  lines.cut_off(2);
  Executor executor =
      *Executor::load(program,
                      NodeId(3),
                      lines.transport(3),
                      {.processes = {}, .positions = {}, .limit = std::chrono::milliseconds(20)});
  ASSERT_TRUE(executor.bind(100, ElementType::kFloat32, ReduceOp::kSum));
  std::vector<std::byte> input(executor.input_bytes());
  std::vector<std::byte> output(executor.output_bytes());
  const Status ended = executor.run(input.data(), output.data());
  ASSERT_FALSE(ended);
  EXPECT_THAT(ended.error().message, ::testing::HasSubstr("nothing came for 0.02 s"));
  EXPECT_THAT(ended.error().message,
              ::testing::HasSubstr("waits for NPU 2 to send message 1 of 3"));
  EXPECT_FALSE(executor.run(input.data(), output.data()));
}

TEST(Executor, RefusesWhatItCannotDo) {
  const Program program = program_of("ring:4", CollectiveKind::kAllReduce, "ring");
  LocalNetwork lines(1, 2);
  Executor executor = *Executor::load(program, NodeId(0), lines.transport(0));
  EXPECT_EQ(executor.bind(10, ElementType::kComplex128, ReduceOp::kMax).error().message,
            "complex128 has no max");
  EXPECT_FALSE(executor.bind(~std::size_t{0}, ElementType::kInt8, ReduceOp::kSum));
  Program stuck = program;
  stuck.npus[1].lanes.clear();
  EXPECT_THAT(Executor::load(stuck, NodeId(0), lines.transport(0)).error().message,
              ::testing::HasSubstr("gets stuck"));
}

// A lane does one thing after the other, so that nothing says that what comes second must not be
// received while the first still reads its place.
TEST(Executor, DoesNotReceiveIntoWhatItsLaneStillUses) {
  Program program;
  program.collective = *Collective::over_all(CollectiveKind::kAllReduce, {64}, 2, 2);
  program.in_place = true;
  const Slot first{Buffer::kOutput, 0};
  const Slot second{Buffer::kOutput, 1};
  const Slot scratch{Buffer::kScratch, 0};
  NpuProgram sender;
  sender.slots = {.input = 0, .output = 2, .scratch = 0};
  sender.lanes.push_back(
      {LaneRole::kSend,
       NodeId(1),
       0,
       {{StepKind::kSend, first, {}, 0, 0}, {StepKind::kSend, second, {}, 0, 0}}});
  NpuProgram receiver;
  receiver.slots = {.input = 0, .output = 2, .scratch = 1};
  receiver.lanes.push_back(
      {LaneRole::kReceive,
       NodeId(0),
       0,
       {{StepKind::kReceiveReduce, first, scratch, 0, 0}, {StepKind::kReceive, {}, first, 0, 0}}});
  receiver.lanes.push_back(
      {LaneRole::kLocal, NodeId(0), 0, {{StepKind::kCopy, scratch, second, 0, 1}}});
  receiver.dependencies = {{0, 0}};
  program.npus = {sender, receiver};
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    LocalNetwork lines(seed, seed % 3);
    Executor one = *Executor::load(program, NodeId(0), lines.transport(0));
    Executor other = *Executor::load(program, NodeId(1), lines.transport(1));
    std::vector<float> sent = {1, 2};
    std::vector<float> received = {10, 20};
    ASSERT_TRUE(one.bind(2, ElementType::kFloat32, ReduceOp::kSum));
    ASSERT_TRUE(other.bind(2, ElementType::kFloat32, ReduceOp::kSum));
    one.start(nullptr, sent.data());
    other.start(nullptr, received.data());
    for (bool done = false; !done;) {
      const bool sender_done = *one.advance();
      done = *other.advance() && sender_done;
    }
    EXPECT_EQ(received, (std::vector<float>{2, 11}));
  }
}

// Chunks that are exchanged both ways at once, where a message stays with its sender until it is
// received: whoever waits for its own to be gone before it receives would wait forever.
TEST(Executor, ReceivesElsewhereWhatHasNoPlaceYet) {
  Program program;
  program.collective = *Collective::over_all(CollectiveKind::kAllReduce, {64}, 1, 2);
  program.in_place = true;
  for (std::uint32_t npu = 0; npu < 2; ++npu) {
    NpuProgram one;
    one.slots = {.input = 0, .output = 1, .scratch = 0};
    const Slot slot{Buffer::kOutput, 0};
    const NodeId peer(1 - npu);
    one.lanes.push_back({LaneRole::kSend, peer, 0, {{StepKind::kSend, slot, {}, 0, 0}}});
    one.lanes.push_back({LaneRole::kReceive, peer, 0, {{StepKind::kReceive, {}, slot, 0, 1}}});
    one.dependencies = {{0, 0}};
    program.npus.push_back(one);
  }
  LocalNetwork lines(3, 0);
  std::vector<Executor> both;
  std::vector<std::vector<float>> data = {std::vector<float>(16, 1), std::vector<float>(16, 2)};
  for (std::uint32_t npu = 0; npu < 2; ++npu) {
    both.push_back(*Executor::load(program, NodeId(npu), lines.transport(npu)));
    ASSERT_TRUE(both[npu].bind(16, ElementType::kFloat32, ReduceOp::kSum));
    both[npu].start(nullptr, data[npu].data());
  }
  bool done[2] = {false, false};
  while (!done[0] || !done[1]) {
    for (std::uint32_t npu = 0; npu < 2; ++npu) {
      const Result<bool> end = both[npu].advance();
      ASSERT_TRUE(end) << end.error().message;
      done[npu] = *end;
    }
  }
  EXPECT_EQ(data[0], std::vector<float>(16, 2));
  EXPECT_EQ(data[1], std::vector<float>(16, 1));
  EXPECT_GE(both[0].stats().staged + both[1].stats().staged, 1U);
}

}  // namespace
}  // namespace tacos
