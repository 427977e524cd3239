// SPDX-License-Identifier: MIT
// Steps that nothing orders may be taken in any order. If no two of them use one slot, of which one
// writes, then all orders do the same to every slot; so one of them is run, and stands for all.
//
// Whether two steps of an NPU are ordered is told by clocks: a step knows how many steps of each
// lane are done before it. Only lanes and dependencies of the NPU itself count, as a runtime may
// see a message before the steps that its sender had done before.
//
// Data are random 64-bit numbers, one for each share of a chunk: a sum is right if each share was
// added exactly once.
//
// O(steps x lanes of an NPU); memory for one NPU's clocks, and a number for each slot.
#include "verify/program_check.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/numbers/rng.h"
#include "verify/program_graph.h"

namespace tacos {
namespace {

constexpr std::uint64_t kSeed = 0x7ac05;

/// What a participant has of a chunk at the start; of copies everybody the same.
std::uint64_t share_of(const Collective& collective, ChunkId chunk, std::uint32_t participant) {
  const std::uint64_t who = collective.reduces(chunk) ? participant + 1 : 0;
  return mix64(kSeed + who, chunk.value());
}

std::string name_of(const Slot& slot) {
  constexpr const char* kNames[] = {"input", "output", "scratch"};
  return fmt::format("{} slot {}", kNames[static_cast<std::size_t>(slot.buffer)], slot.index);
}

/// Something for each slot of an NPU.
template <class Value>
class BySlot {
 public:
  explicit BySlot(const BufferSlots& slots)
      : first_{0, slots.input, slots.input + slots.output},
        values_(std::size_t{slots.input} + slots.output + slots.scratch) {}
  [[nodiscard]] Value& operator[](const Slot& slot) {
    return values_[first_[static_cast<std::size_t>(slot.buffer)] + slot.index];
  }

 private:
  std::size_t first_[3];
  std::vector<Value> values_;
};

class Check {
 public:
  Check(const Program& program, std::size_t max_violations)
      : program_(program), collective_(program.collective), most_(max_violations) {}

  ProgramReport run() {
    std::optional<std::string> wrong;
    const ProgramGraph graph(program_, wrong);
    report_.steps = graph.num_steps();
    if (wrong) {
      report_.violations.push_back(*wrong);
      return report_;
    }
    const std::vector<std::uint32_t> order = graph.order(0);
    if (order.size() < graph.num_steps()) {
      say_who_is_stuck(graph, order);
      return report_;
    }
    for (std::uint32_t npu = 0; npu < program_.npus.size(); ++npu) {
      find_races(npu);
    }
    execute(graph, order);
    if (report_.valid()) {
      report_.fifo_slots = graph.least_slots();
    }
    return report_;
  }

 private:
  void add(std::string violation) {
    if (report_.violations.size() < most_) {
      report_.violations.push_back(std::move(violation));
    }
  }

  void say_who_is_stuck(const ProgramGraph& graph, const std::vector<std::uint32_t>& order) {
    std::vector<bool> done(graph.num_steps(), false);
    for (const std::uint32_t step : order) {
      done[step] = true;
    }
    const auto first = std::find(done.begin(), done.end(), false);
    const auto place = graph.place(static_cast<std::uint32_t>(first - done.begin()));
    add(fmt::format("NPU {}, lane {}, step {}: waits for itself, and {} more do",
                    place.npu,
                    place.lane,
                    place.step,
                    graph.num_steps() - order.size() - 1));
  }

  /// The steps of one NPU in an order that its lanes and dependencies allow.
  [[nodiscard]] static std::vector<Dependency> local_order(const NpuProgram& here) {
    std::vector<std::uint32_t> next(here.lanes.size(), 0);
    std::vector<Dependency> order;
    for (bool more = true; more;) {
      more = false;
      for (std::uint32_t lane = 0; lane < here.lanes.size(); ++lane) {
        const auto& steps = here.lanes[lane].steps;
        const auto ready = [&](const Step& step) {
          const auto waits = here.dependencies_of(step);
          return std::all_of(waits.begin(), waits.end(), [&](const Dependency& wait) {
            return wait.step < next[wait.lane];
          });
        };
        while (next[lane] < steps.size() && ready(steps[next[lane]])) {
          order.push_back({lane, next[lane]++});
          more = true;
        }
      }
    }
    return order;
  }

  struct Use {
    std::optional<Dependency> written;
    std::vector<Dependency> read;
  };

  void find_races(std::uint32_t npu) {
    const NpuProgram& here = program_.npus[npu];
    const std::size_t lanes = here.lanes.size();
    // By lane and step: how many steps of each lane are done before it, and itself.
    std::vector<std::vector<std::uint32_t>> clocks(lanes);
    BySlot<Use> uses(here.slots);
    for (const Dependency& self : local_order(here)) {
      const std::uint32_t lane = self.lane;
      const std::uint32_t at = self.step;
      const Step& step = here.lanes[lane].steps[at];
      std::vector<std::uint32_t>& rows = clocks[lane];
      rows.resize(rows.size() + lanes, 0);
      std::uint32_t* const clock = rows.data() + rows.size() - lanes;
      const auto join = [&](const std::uint32_t* other) {
        std::transform(other, other + lanes, clock, clock, [](std::uint32_t a, std::uint32_t b) {
          return std::max(a, b);
        });
      };
      if (at > 0) {
        join(clock - lanes);
      }
      for (const Dependency& wait : here.dependencies_of(step)) {
        join(clocks[wait.lane].data() + std::size_t{wait.step} * lanes);
      }
      clock[lane] = at + 1;
      const auto after = [&](const Dependency& other, const Slot& slot) {
        if (clock[other.lane] <= other.step) {
          add(
              fmt::format("NPU {}: {} is used by step {} of lane {} and step {} of lane {}, in no "
                          "order",
                          npu,
                          name_of(slot),
                          other.step,
                          other.lane,
                          at,
                          lane));
        }
      };
      use_slots(step, self, uses, after);
    }
  }

  template <class After>
  static void use_slots(const Step& step,
                        const Dependency& self,
                        BySlot<Use>& uses,
                        const After& after) {
    if (reads(step.kind)) {
      Use& use = uses[step.from];
      if (use.written) {
        after(*use.written, step.from);
      }
      use.read.push_back(self);
    }
    if (writes(step.kind)) {
      Use& use = uses[step.to];
      if (use.written) {
        after(*use.written, step.to);
      }
      for (const Dependency& read : use.read) {
        if (read != self) {
          after(read, step.to);
        }
      }
      use.written = self;
      use.read.clear();
    }
  }

  using Values = BySlot<std::optional<std::uint64_t>>;

  void execute(const ProgramGraph& graph, const std::vector<std::uint32_t>& order) {
    std::vector<Values> values;
    for (const NpuProgram& npu : program_.npus) {
      values.emplace_back(npu.slots);
    }
    fill_inputs(values);
    std::vector<std::uint64_t> messages(graph.num_steps(), 0);
    for (const std::uint32_t number : order) {
      const auto place = graph.place(number);
      const Step& step = program_.npus[place.npu].lanes[place.lane].steps[place.step];
      Values& at = values[place.npu];
      if (reads(step.kind) && !at[step.from]) {
        add(fmt::format("NPU {}: step {} of lane {} reads {}, which nobody has written",
                        place.npu,
                        place.step,
                        place.lane,
                        name_of(step.from)));
        return;
      }
      do_step(graph, number, step, at, messages);
    }
    check_outputs(values);
  }

  static void do_step(const ProgramGraph& graph,
                      std::uint32_t number,
                      const Step& step,
                      Values& at,
                      std::vector<std::uint64_t>& messages) {
    switch (step.kind) {
      case StepKind::kSend:
        messages[number] = *at[step.from];
        break;
      case StepKind::kReceive:
        at[step.to] = messages[graph.send_of(number)];
        break;
      case StepKind::kReceiveReduce:
        at[step.to] = *at[step.from] + messages[graph.send_of(number)];
        break;
      case StepKind::kCopy:
        at[step.to] = *at[step.from];
        break;
      case StepKind::kReduce:
        at[step.to] = at[step.to].value_or(0) + *at[step.from];
        break;
      case StepKind::kGrant:
      case StepKind::kAwait:
        break;
    }
  }

  void fill_inputs(std::vector<Values>& values) {
    for (std::uint32_t c = 0; c < collective_.num_chunks(); ++c) {
      for (std::uint32_t p = 0; p < collective_.num_participants(); ++p) {
        if (collective_.starts_with(ChunkId(c), p)) {
          const Slot slot = input_slot(collective_, p, ChunkId(c), program_.in_place);
          values[collective_.participants()[p].index()][slot] =
              share_of(collective_, ChunkId(c), p);
        }
      }
    }
  }

  void check_outputs(std::vector<Values>& values) {
    for (std::uint32_t c = 0; c < collective_.num_chunks(); ++c) {
      const ChunkId chunk(c);
      const std::uint64_t expected = result_of(chunk);
      for (std::uint32_t p = 0; p < collective_.num_participants(); ++p) {
        if (!collective_.ends_with(chunk, p)) {
          continue;
        }
        const Slot slot = output_slot(collective_, p, chunk, program_.in_place);
        const NodeId npu = collective_.participants()[p];
        if (values[npu.index()][slot] != expected) {
          add(fmt::format("NPU {} ends with something else than chunk {} in {}",
                          npu.value(),
                          c,
                          name_of(slot)));
        }
      }
    }
  }

  /// What must be in the output in the place of a chunk.
  [[nodiscard]] std::uint64_t result_of(ChunkId chunk) const {
    std::uint64_t sum = 0;
    if (collective_.form() == CollectiveForm::kGathered) {
      const auto chunks = static_cast<std::uint32_t>(collective_.chunk_argument());
      for (std::uint32_t p = 0; p < collective_.num_participants(); ++p) {
        sum += share_of(collective_, ChunkId(p * chunks + chunk.value() % chunks), p);
      }
      return sum;
    }
    for (std::uint32_t p = 0; p < collective_.num_participants(); ++p) {
      if (collective_.starts_with(chunk, p)) {
        const std::uint64_t share = share_of(collective_, chunk, p);
        sum = collective_.reduces(chunk) ? sum + share : share;
      }
    }
    return sum;
  }

  const Program& program_;
  const Collective& collective_;
  std::size_t most_;
  ProgramReport report_;
};

}  // namespace

ProgramReport check_program(const Program& program, std::size_t max_violations) {
  return Check(program, max_violations).run();
}

}  // namespace tacos
