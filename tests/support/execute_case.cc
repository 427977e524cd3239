// SPDX-License-Identifier: MIT
#include "support/execute_case.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include <fmt/format.h>

#include "tacos/lower.h"
#include "tacos/synthesize.h"

#include "base/numbers/rng.h"
#include "support/local_transport.h"
#include "support/problems.h"
#include "support/random_network.h"
#include "verify/program_check.h"

namespace tacos::test {
namespace {

/// Element i of what a participant starts with: small whole numbers, whose sums any type has.
Value start_value(const ExecuteCase& given, std::uint32_t participant, std::size_t i) {
  Rng rng(mix64(mix64(given.seed, participant), i));
  const auto units = static_cast<double>(rng.below(2) == 0 ? -1 : 1);
  const bool complex =
      given.type == ElementType::kComplex64 || given.type == ElementType::kComplex128;
  if (!given.exact) {
    return (static_cast<double>(rng.next() >> 11U) / 0x1p53 - 0.5) * 8;
  }
  if (given.op == ReduceOp::kProd) {
    return complex && rng.below(2) == 0 ? Value(0, units) : units;
  }
  const auto most = given.participants() > 16 ? 1U : 2U;
  const auto part = [&] {
    return static_cast<double>(rng.below(2 * most + 1)) - static_cast<double>(most);
  };
  const double real = given.type == ElementType::kUint8 ? rng.below(most + 1) : part();
  return complex ? Value(real, part()) : real;
}

bool parts(const Collective& collective) {
  return traits(collective.kind()).chunks_per != ChunksPer::kBuffer;
}
bool has(const Collective& collective, const BufferExtent& extent, std::uint32_t participant) {
  return !extent.root_only || collective.participants()[participant] == collective.root();
}
/// Elements of a buffer.
std::size_t elements(const ExecuteCase& given, const BufferExtent& extent) {
  return given.count * (extent.whole && parts(given.collective()) ? given.participants() : 1);
}
std::size_t position(const ExecuteCase& given, std::uint32_t participant) {
  return given.positions.empty() ? participant : given.positions[participant];
}
std::uint32_t at_position(const ExecuteCase& given, std::size_t place) {
  std::uint32_t participant = 0;
  while (position(given, participant) != place) {
    ++participant;
  }
  return participant;
}

Value reduced(const ExecuteCase& given, std::size_t i) {
  Value sum = start_value(given, 0, i);
  for (std::uint32_t p = 1; p < given.participants(); ++p) {
    sum = reduce_values(given.op, sum, start_value(given, p, i));
  }
  return finish_value(given.type, given.op, sum, given.participants());
}

/// Element i of what the participant must end with, as MPI defines it.
Value end_value(const ExecuteCase& given, std::uint32_t self, std::size_t i) {
  const Collective& collective = given.collective();
  const auto participants = collective.participants();
  const auto root = static_cast<std::uint32_t>(
      std::find(participants.begin(), participants.end(), collective.root()) -
      participants.begin());
  const std::size_t place = position(given, self);
  switch (collective.kind()) {
    case CollectiveKind::kAllGather:
    case CollectiveKind::kGather:
      return start_value(given, at_position(given, i / given.count), i % given.count);
    case CollectiveKind::kReduceScatter:
      return reduced(given, place * given.count + i);
    case CollectiveKind::kAllReduce:
    case CollectiveKind::kReduce:
      return reduced(given, i);
    case CollectiveKind::kBroadcast:
      return start_value(given, root, i);
    case CollectiveKind::kScatter:
      return start_value(given, root, place * given.count + i);
    case CollectiveKind::kAllToAll:
      return start_value(
          given, at_position(given, i / given.count), place * given.count + i % given.count);
    case CollectiveKind::kCustom:
      break;
  }
  return {};
}

/// Where the input begins in the buffers.
std::byte* input_in(const ExecuteCase& given, std::uint32_t self, CaseBuffers& buffers) {
  const CollectiveTraits& kind = traits(given.collective().kind());
  const bool shared = given.program.in_place && has(given.collective(), kind.output, self) &&
                      !(kind.input.whole && !kind.output.whole);
  const std::size_t part = given.count * element_bytes(given.type) * position(given, self);
  return !shared                                  ? buffers.input.data()
         : !kind.input.whole && kind.output.whole ? buffers.output.data() + part
                                                  : buffers.output.data();
}

std::size_t pick(Rng& rng, std::size_t most) {
  // Few as often as many.
  const std::uint32_t bits = rng.below(static_cast<std::uint32_t>(std::log2(most)) + 1);
  return rng.below((2U << bits) - 1U) % (most + 1);
}

Topology any_network(Rng& rng, const CaseShape& shape) {
  const std::uint32_t span = shape.most_npus - shape.least_npus + 1;
  const std::uint32_t npus = shape.fixed ? shape.most_npus : shape.least_npus + rng.below(span);
  constexpr const char* kKinds[] = {
      "ring:{}", "fc:{}", "switch:{}", "mesh:{}", "ring:{},bw=25GBps"};
  if (shape.fixed || rng.below(2) == 0) {
    return testing::network(fmt::format(fmt::runtime(kKinds[rng.below(5)]), npus));
  }
  return rng.below(2) == 0 ? testing::random_network(rng.next(), {.max_npus = npus})
                           : testing::random_switched_network(rng.next(), npus);
}

Synthesis make_schedule(Rng& rng, const Topology& topology, Problem& task, std::string& engine) {
  const LinkModel model = rng.below(2) == 0 ? LinkModel::kHold : LinkModel::kPipelined;
  const auto names = engine_names();
  engine = std::string(names[rng.below(static_cast<std::uint32_t>(names.size()))]);
  SynthesisOptions options{
      .engine = engine, .link_model = model, .effort = 1 + static_cast<int>(rng.below(6))};
  if (engine_handles(engine, topology, task)) {
    Result<Synthesis> made = synthesize(topology, task, options);
    if (made && made->status == SynthesisStatus::kFeasible) {
      return testing::synthesize_verified(topology, task, options);
    }
  }
  engine = options.engine = "auto";
  if (traits(task.kind).gathered && rng.below(3) == 0) {
    task.form = CollectiveForm::kGathered;
    engine = "auto, gathered";
  }
  return testing::synthesize_verified(topology, task, options);
}

}  // namespace

std::optional<std::uint32_t> ExecuteCase::participant(NodeId npu) const {
  const auto all = collective().participants();
  const auto found = std::find(all.begin(), all.end(), npu);
  return found == all.end() ? std::nullopt
                            : std::optional(static_cast<std::uint32_t>(found - all.begin()));
}

ExecuteCase any_execute_case(std::uint64_t seed, const CaseShape& shape) {
  Rng rng(seed);
  const Topology topology = any_network(rng, shape);
  const auto kinds = collective_kinds();
  const CollectiveKind kind = kinds[rng.below(static_cast<std::uint32_t>(kinds.size()))];
  Problem task = testing::problem(topology, kind, std::int64_t{1} << (9 + rng.below(17)));
  if (rng.below(2) == 0) {
    task.chunks = 1 + rng.below(6);
  }
  if (!shape.fixed && rng.below(4) == 0 && topology.num_npus() > 3) {
    std::erase_if(task.participants, [&](NodeId npu) { return npu.value() % 3 == 1; });
  }
  if (is_rooted(kind)) {
    task.root = task.participants[rng.below(static_cast<std::uint32_t>(task.participants.size()))];
  }
  ExecuteCase made;
  std::string engine;
  const Synthesis synthesis = make_schedule(rng, topology, task, engine);
  const bool in_place = can_be_in_place(*synthesis.collective) && rng.below(2) == 0;
  const LowerOptions options{.in_place = in_place, .credits = rng.below(2) == 0};
  made.loop = *lower_loop(topology, *synthesis.collective, *synthesis.schedule, options);
  made.program = made.loop ? unroll(*made.loop)
                           : *lower(topology, *synthesis.collective, *synthesis.schedule, options);
  const auto types = element_types();
  const auto ops = reduce_ops();
  do {
    made.type = types[rng.below(static_cast<std::uint32_t>(types.size()))];
    made.op = ops[rng.below(static_cast<std::uint32_t>(ops.size()))];
  } while (!check_reduction(made.type, made.op));
  made.seed = rng.next();
  made.count = pick(rng, shape.most_count);
  const bool real = made.type <= ElementType::kFloat16;
  made.exact = !real || rng.below(2) == 0;
  if (rng.below(4) == 0) {
    for (std::uint32_t p = 0; p < made.participants(); ++p) {
      made.positions.push_back(static_cast<std::uint32_t>(made.participants()) - 1 - p);
    }
  }
  made.description = fmt::format("{} on {}, {} participants, by {}, {} chunks, {} x {}, {}{}{}{}{}",
                                 to_string(kind),
                                 topology.name(),
                                 made.participants(),
                                 engine,
                                 synthesis.collective->num_chunks(),
                                 made.count,
                                 to_string(made.type),
                                 to_string(made.op),
                                 in_place ? ", in place" : "",
                                 made.exact ? "" : ", any numbers",
                                 made.positions.empty() ? "" : ", permuted",
                                 made.loop ? ", a loop" : "");
  return made;
}

CaseBuffers make_buffers(const ExecuteCase& given, NodeId npu, const Executor& executor) {
  CaseBuffers buffers;
  buffers.input.assign(executor.input_bytes(), std::byte{0x5a});
  buffers.output.assign(executor.output_bytes(), std::byte{0x5a});
  const std::optional<std::uint32_t> self = given.participant(npu);
  const BufferExtent& extent = traits(given.collective().kind()).input;
  if (self && has(given.collective(), extent, *self)) {
    std::byte* const input = input_in(given, *self, buffers);
    for (std::size_t i = 0; i < elements(given, extent); ++i) {
      write_element(
          given.type, input + i * element_bytes(given.type), start_value(given, *self, i));
    }
  }
  return buffers;
}

const std::byte* result_of(const ExecuteCase& given, NodeId npu, const CaseBuffers& buffers) {
  const std::optional<std::uint32_t> self = given.participant(npu);
  const CollectiveTraits& kind = traits(given.collective().kind());
  if (!self || !has(given.collective(), kind.output, *self)) {
    return nullptr;
  }
  const bool in_input = given.program.in_place && has(given.collective(), kind.input, *self) &&
                        kind.input.whole && !kind.output.whole;
  const std::size_t part = given.count * element_bytes(given.type) * position(given, *self);
  return in_input ? buffers.input.data() + part : buffers.output.data();
}

std::size_t result_elements(const ExecuteCase& given, NodeId npu) {
  const std::optional<std::uint32_t> self = given.participant(npu);
  const BufferExtent& extent = traits(given.collective().kind()).output;
  return self && has(given.collective(), extent, *self) ? elements(given, extent) : 0;
}

std::size_t wrong_elements(const ExecuteCase& given, NodeId npu, const CaseBuffers& buffers) {
  const std::byte* const result = result_of(given, npu, buffers);
  const std::size_t bytes = element_bytes(given.type);
  // Half precision loses three digits in a few sums.
  const double slack = given.type == ElementType::kBfloat16  ? 0.1
                       : given.type == ElementType::kFloat16 ? 0.02
                                                             : 1e-4;
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < result_elements(given, npu); ++i) {
    const Value value = end_value(given, *given.participant(npu), i);
    std::byte expected[16];
    write_element(given.type, expected, value);
    // Zeros of either sign are equal.
    bool right = read_element(given.type, result + i * bytes) == read_element(given.type, expected);
    if (!right && !given.exact) {
      const double got = read_element(given.type, result + i * bytes).real();
      const double most = given.op == ReduceOp::kProd
                              ? std::fabs(value.real())
                              : 4.0 * static_cast<double>(given.participants());
      right = std::fabs(got - value.real()) <=
              slack * static_cast<double>(given.participants()) * std::max(most, 1.0);
      // Products may leave the range of the type.
      right = right || (given.op == ReduceOp::kProd && !std::isfinite(got));
    }
    wrong += right ? 0 : 1;
  }
  return wrong;
}

namespace {

/// Lets all go on in turn until all are done; empty, or what went wrong.
std::string finish_all(std::vector<Executor>& executors, Rng& rng) {
  std::vector<bool> done(executors.size(), false);
  std::size_t left = executors.size();
  while (left > 0) {
    const std::uint32_t one = rng.below(static_cast<std::uint32_t>(executors.size()));
    if (done[one]) {
      continue;
    }
    const Result<bool> end = executors[one].advance();
    if (!end) {
      return end.error().to_string();
    }
    if (*end) {
      done[one] = true;
      --left;
    }
  }
  return {};
}

}  // namespace

std::string run_case(const ExecuteCase& given) {
  LocalNetwork network(given.seed, given.seed % 2 == 0 ? 0 : 2);
  Rng rng(given.seed + 1);
  std::vector<Executor> executors;
  const auto npus = static_cast<std::uint32_t>(given.program.npus.size());
  const ProgramReport report = check_program(given.program);
  if (!report.valid()) {
    return report.violations.front();
  }
  for (std::uint32_t npu = 0; npu < npus; ++npu) {
    const ExecuteOptions options{
        .processes = {}, .positions = given.positions, .depth = 2 + rng.below(6)};
    Transport& transport = network.transport(npu);
    Result<Executor> loaded = given.loop
                                  ? Executor::load(*given.loop, NodeId(npu), transport, options)
                                  : Executor::load(given.program, NodeId(npu), transport, options);
    if (!loaded) {
      return loaded.error().to_string();
    }
    if (Status bound = loaded->bind(given.count, given.type, given.op); !bound) {
      return bound.error().to_string();
    }
    executors.push_back(*std::move(loaded));
  }
  constexpr int kRuns = 2;
  for (int run = 0; run < kRuns; ++run) {
    std::vector<CaseBuffers> buffers;
    for (std::uint32_t npu = 0; npu < npus; ++npu) {
      buffers.push_back(make_buffers(given, NodeId(npu), executors[npu]));
      executors[npu].start(buffers[npu].input.data(), buffers[npu].output.data());
    }
    if (std::string failure = finish_all(executors, rng); !failure.empty()) {
      return failure;
    }
    const NodeId first = given.collective().participants().front();
    const std::byte* const same = result_of(given, first, buffers[first.index()]);
    for (std::uint32_t npu = 0; npu < npus; ++npu) {
      const std::size_t wrong = wrong_elements(given, NodeId(npu), buffers[npu]);
      if (wrong > 0) {
        return fmt::format("run {}: {} wrong elements at NPU {}", run, wrong, npu);
      }
      const std::byte* const mine = result_of(given, NodeId(npu), buffers[npu]);
      if (given.collective().kind() == CollectiveKind::kAllReduce && mine != nullptr &&
          given.count > 0 &&
          std::memcmp(mine, same, given.count * element_bytes(given.type)) != 0) {
        return fmt::format(
            "run {}: NPU {} ends with other bits than NPU {}", run, npu, first.value());
      }
    }
  }
  return {};
}

}  // namespace tacos::test
