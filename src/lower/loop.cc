// SPDX-License-Identifier: MIT
// The first round of a timetable is a schedule like any other, of a collective with fewer chunks.
// It is lowered, and then put on the period: the messages of a line come in the order of their
// places in it, each with its lap.
//
// Rounds have slots of their own in input and output, so steps wait for others of their round only.
// Scratch is where they meet: a slot that is in use for less than d periods has d copies, which
// rounds take in turn, and whoever writes it first waits for those who used it d rounds before.
//
// Give every step a time, that of its message in the first round plus a period for every round. A
// step waits for earlier ones only, and lanes do theirs in order of time (which is checked), so
// that nothing waits for itself. A FIFO that is full makes a send wait for a receive. Receives need
// not be as late as the schedule has them: they are given the earliest times at which they wait for
// earlier steps only, and if then a line has never more messages on the way than FIFOs take, the
// loop comes to its end with them. Where it has, the schedule is left to be lowered round by round.
//
// O(transfers of a round).
#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "tacos/lower.h"

#include "lower/lowering.h"
#include "schedule/periodic/timetable.h"

namespace tacos {
namespace {

using lowering::Lowering;
using lowering::Message;
using lowering::Scratch;

/// The first round, with its chunks numbered one after the other.
struct Round {
  Collective collective;
  Schedule schedule;
};

std::optional<Round> round_of(const Collective& collective, const Timetable& timetable) {
  const CollectiveTraits& kind = traits(collective.kind());
  const std::uint32_t block = timetable.rounds * timetable.stride;
  if (collective.form() != CollectiveForm::kDirect || kind.before == Holder::kListed ||
      collective.chunk_argument() % block != 0) {
    return std::nullopt;
  }
  const std::int64_t chunks = collective.num_chunks() / timetable.rounds;
  const std::int64_t buffers =
      kind.chunks_per == ChunksPer::kPair ? collective.num_participants() : 1;
  Result<Collective> once =
      Collective::make(collective.kind(),
                       {chunks / buffers * collective.chunks().max_bytes().count},
                       collective.chunk_argument() / timetable.rounds,
                       {collective.participants().begin(), collective.participants().end()},
                       kind.rooted() ? std::optional(collective.root()) : std::nullopt);
  if (!once) {
    return std::nullopt;
  }
  Timetable first = timetable;
  first.rounds = 1;
  for (TimetableEntry& entry : first.entries) {
    entry.chunk = entry.chunk / block * timetable.stride + entry.chunk % block;
  }
  // Whoever lowers a schedule asks for its transfers only.
  return Round{.collective = *std::move(once),
               .schedule = make_schedule(make_periodic_source(std::move(first)), {})};
}

/// A message in the first round, by its place in the period.
struct Passage {
  Ticks place;
  std::uint32_t lap = 0;
  /// Where it is in the first round, among those of its line.
  std::uint32_t number = 0;
  Ticks duration;
};

/// From when on scratch is there for a message: little of it where messages stay in FIFOs until
/// they are planned to arrive, more where FIFOs are too short for that.
enum class Room { kFromArrival, kFromStart };

class LoopWriter {
 public:
  LoopWriter(const Collective& collective,
             const Timetable& timetable,
             std::uint32_t fifo_slots,
             bool in_place,
             Room room)
      : period_(timetable.period),
        room_(room),
        fifo_slots_(fifo_slots),
        loop_{.collective = collective,
              .in_place = in_place,
              .rounds = timetable.rounds,
              .stride = timetable.stride,
              .npus = {}} {}

  /// Of what `lowering` has of the first round.
  std::optional<Loop> write(const Lowering& lowering) {
    const Program once = lowering.write(loop_.in_place, Scratch::kOnce);
    lanes_.resize(once.npus.size());
    for (std::size_t npu = 0; npu < once.npus.size(); ++npu) {
      lanes_[npu].resize(once.npus[npu].lanes.size());
    }
    if (!place_lines(lowering)) {
      return std::nullopt;
    }
    for (std::uint32_t npu = 0; npu < once.npus.size(); ++npu) {
      loop_.npus.push_back(repeat(once.npus[npu], lanes_[npu]));
      if (!takes_in_time(loop_.npus.back(), lanes_[npu])) {
        return std::nullopt;
      }
    }
    const auto participants = loop_.collective.participants();
    for (std::uint32_t p = 0; p < participants.size(); ++p) {
      BufferSlots& slots = loop_.npus[participants[p].index()].slots;
      const std::uint32_t scratch = slots.scratch;
      slots = buffer_slots(loop_.collective, p, loop_.in_place);
      slots.scratch = scratch;
    }
    return std::move(loop_);
  }

 private:
  using Passages = std::vector<Passage>;

  /// Puts the messages of all lines on the period; whether they come in order.
  bool place_lines(const Lowering& lowering) {
    std::vector<Passages> lines(lowering.num_lines());
    for (const Message& message : lowering.messages()) {
      Passages& line = lines[message.line];
      line.push_back({.place = {message.start.ps % period_.ps},
                      .lap = static_cast<std::uint32_t>(message.start.ps / period_.ps),
                      .number = static_cast<std::uint32_t>(line.size()),
                      .duration = message.end - message.start});
    }
    for (std::uint32_t number = 0; number < lines.size(); ++number) {
      Passages& passages = lines[number];
      // Of those that share a transfer, what carries fewest chunks in the first round arrives
      // first.
      std::stable_sort(passages.begin(), passages.end(), [](const Passage& a, const Passage& b) {
        return std::pair(a.place, a.duration) < std::pair(b.place, b.duration);
      });
      if (!follow_each_other(passages)) {
        return false;
      }
      const lowering::Line& line = lowering.line(number);
      lanes_[line.src.index()][line.send_lane] = passages;
      lanes_[line.dst.index()][line.receive_lane] = std::move(passages);
    }
    return true;
  }

  /// The one so many before a passage, turn by turn, and in how many turns before.
  static std::pair<std::size_t, std::int64_t> before(const Passages& passages,
                                                     std::size_t number,
                                                     std::size_t back) {
    const std::size_t turns =
        back > number ? (back - number + passages.size() - 1) / passages.size() : 0;
    return {number + turns * passages.size() - back, static_cast<std::int64_t>(turns)};
  }

  /// Whether messages of all rounds arrive in the order of their sending.
  [[nodiscard]] bool follow_each_other(const Passages& passages) const {
    for (std::size_t i = 0; i < passages.size(); ++i) {
      const auto [last, turns] = before(passages, i, 1);
      if (passages[last].place + passages[last].duration - period_ * turns >
          passages[i].place + passages[i].duration) {
        return false;
      }
    }
    return true;
  }

  /// Whether what comes to an NPU can be taken so early that FIFOs suffice. As soon as a message is
  /// sent it may be taken, if what its step waits for is done.
  [[nodiscard]] bool takes_in_time(const NpuLoop& npu, const std::vector<Passages>& lanes) const {
    // When steps are done in the turn of their lane; of sends that is given.
    std::vector<std::vector<Ticks>> done(lanes.size());
    for (std::size_t l = 0; l < lanes.size(); ++l) {
      for (const Passage& passage : lanes[l]) {
        done[l].push_back(passage.place);
      }
    }
    for (int passes = 0; delay_receives(npu, lanes, done); ++passes) {
      // More than chains of sums are long, or they are longer than a period.
      constexpr int kMostPasses = 50;
      if (passes == kMostPasses) {
        return false;
      }
    }
    for (std::size_t l = 0; l < lanes.size(); ++l) {
      if (npu.lanes[l].role == LaneRole::kReceive && !is_in_time(lanes[l], done[l])) {
        return false;
      }
    }
    return true;
  }

  /// Lets receives be done no sooner than what they wait for; whether any changed.
  [[nodiscard]] bool delay_receives(const NpuLoop& npu,
                                    const std::vector<Passages>& lanes,
                                    std::vector<std::vector<Ticks>>& done) const {
    bool changed = false;
    for (std::size_t l = 0; l < lanes.size(); ++l) {
      for (std::size_t i = 0; npu.lanes[l].role == LaneRole::kReceive && i < lanes[l].size(); ++i) {
        const auto [last, turns] = before(lanes[l], i, 1);
        Ticks time = std::max(done[l][i], done[l][last] - period_ * turns);
        for (const LoopDependency& wait : npu.dependencies_of(npu.lanes[l].steps[i])) {
          const std::int64_t periods =
              std::int64_t{lanes[wait.lane][wait.step].lap} - wait.back - lanes[l][i].lap;
          time = std::max(time, done[wait.lane][wait.step] + period_ * periods);
        }
        changed |= time != done[l][i];
        done[l][i] = time;
      }
    }
    return changed;
  }

  /// Whether messages are taken before they arrive in the schedule, and when a message is sent, the
  /// one is taken whose room in the FIFO it needs.
  [[nodiscard]] bool is_in_time(const Passages& passages, const std::vector<Ticks>& done) const {
    for (std::size_t i = 0; i < passages.size(); ++i) {
      const Ticks place = passages[i].place;
      const auto [other, turns] = before(passages, i, fifo_slots_);
      const Ticks arrival = passages[other].place + passages[other].duration - period_ * turns;
      if (done[i] > place + passages[i].duration ||
          (arrival > place && done[other] - period_ * turns >= place)) {
        return false;
      }
    }
    return true;
  }

  /// When it arrives in the first round.
  [[nodiscard]] Ticks end_of(const Passage& passage) const {
    return passage.place + period_ * passage.lap + passage.duration;
  }

  /// What happens to a slot of scratch in the first round: steps by lane, in order of time.
  struct Access {
    LoopDependency by;
    Ticks time;
    /// When its message was sent.
    Ticks start;
    bool writes = false;
  };

  NpuLoop repeat(const NpuProgram& once, const std::vector<Passages>& lanes) {
    NpuLoop made;
    steps_.assign(once.lanes.size(), {});
    accesses_.assign(once.slots.scratch, {});
    for (std::uint32_t l = 0; l < once.lanes.size(); ++l) {
      order_steps(once.lanes[l], l, lanes[l]);
    }
    place_scratch(made);
    for (std::uint32_t l = 0; l < once.lanes.size(); ++l) {
      const Lane& lane = once.lanes[l];
      made.lanes.push_back(
          {.role = lane.role, .peer = lane.peer, .channel = lane.channel, .steps = {}});
      std::vector<LoopStep>& steps = made.lanes.back().steps;
      steps.resize(lane.steps.size());
      for (std::uint32_t number = 0; number < lane.steps.size(); ++number) {
        const Step& step = lane.steps[number];
        const std::uint32_t at = steps_[l][number];
        LoopStep& to = steps[at];
        to = {.kind = step.kind,
              .from = slot(step.from),
              .to = slot(step.to),
              .lap = lanes[l].empty() ? 0 : lanes[l][at].lap};
        waits_.clear();
        for (const Dependency& wait : once.dependencies_of(step)) {
          waits_.push_back({.lane = wait.lane, .step = steps_[wait.lane][wait.step], .back = 0});
        }
        if (writes(step.kind) && step.to.buffer == Buffer::kScratch) {
          wait_for_scratch({.lane = l, .step = at, .back = 0}, end_of(lanes[l][at]), step.to.index);
        }
        std::sort(waits_.begin(), waits_.end(), [](const auto& a, const auto& b) {
          return std::pair(a.lane, a.back) < std::pair(b.lane, b.back);
        });
        to.first_dependency = static_cast<std::uint32_t>(made.dependencies.size());
        to.num_dependencies = static_cast<std::uint32_t>(waits_.size());
        made.dependencies.insert(made.dependencies.end(), waits_.begin(), waits_.end());
      }
    }
    return made;
  }

  /// Where the steps of a lane are in its turns, and who uses scratch when.
  void order_steps(const Lane& lane, std::uint32_t number, const Passages& passages) {
    std::vector<std::uint32_t>& at = steps_[number];
    at.resize(lane.steps.size());
    std::iota(at.begin(), at.end(), 0U);
    for (std::uint32_t i = 0; i < passages.size(); ++i) {
      const Passage& passage = passages[i];
      const Step& step = lane.steps[passage.number];
      at[passage.number] = i;
      const Ticks end = end_of(passage);
      const Ticks start = end - passage.duration;
      const auto note = [&](const Slot& slot, bool written) {
        if (slot.buffer == Buffer::kScratch) {
          accesses_[slot.index].push_back({.by = {.lane = number, .step = i, .back = 0},
                                           .time = lane.role == LaneRole::kSend ? start : end,
                                           .start = start,
                                           .writes = written});
        }
      };
      if (reads(step.kind) && !(writes(step.kind) && step.from == step.to)) {
        note(step.from, false);
      }
      if (writes(step.kind)) {
        note(step.to, true);
      }
    }
  }

  /// Gives each slot of scratch as many copies as there are rounds that use it at once.
  void place_scratch(NpuLoop& made) {
    scratch_.clear();
    for (std::vector<Access>& accesses : accesses_) {
      std::sort(accesses.begin(), accesses.end(), [](const Access& a, const Access& b) {
        return std::tuple(a.time, !a.writes, a.by) < std::tuple(b.time, !b.writes, b.by);
      });
      const Access& first = accesses.front();
      const Ticks from = room_ == Room::kFromArrival ? first.time : first.start;
      const std::int64_t used = (accesses.back().time - from).ps;
      const auto depth =
          static_cast<std::uint32_t>(std::min<std::int64_t>(used / period_.ps + 1, loop_.rounds));
      scratch_.push_back({.first = {Buffer::kScratch, made.slots.scratch}, .depth = depth});
      made.slots.scratch += depth;
    }
  }

  [[nodiscard]] LoopSlot slot(const Slot& once) const {
    if (once.buffer == Buffer::kScratch) {
      return scratch_[once.index];
    }
    const std::uint32_t stride = loop_.stride;
    return {
        .first = {once.buffer, once.index / stride * stride * loop_.rounds + once.index % stride}};
  }

  /// Who writes scratch first waits for those who used it last, rounds before. What came before the
  /// last write is waited for by that.
  void wait_for_scratch(const LoopDependency& self, Ticks now, std::uint32_t number) {
    const std::vector<Access>& accesses = accesses_[number];
    const std::uint32_t depth = scratch_[number].depth;
    if (depth == loop_.rounds || now > accesses.front().time) {
      return;
    }
    const auto last_write = std::find_if(
        accesses.rbegin(), accesses.rend(), [](const Access& access) { return access.writes; });
    const std::size_t others = waits_.size();
    for (auto last = accesses.rbegin(); last != accesses.rend() && last->time >= last_write->time;
         ++last) {
      const bool known =
          std::any_of(waits_.begin() + static_cast<std::ptrdiff_t>(others),
                      waits_.end(),
                      [&](const LoopDependency& wait) { return wait.lane == last->by.lane; });
      if (last->by.lane != self.lane && !known) {
        waits_.push_back({.lane = last->by.lane, .step = last->by.step, .back = depth});
      }
    }
  }

  Ticks period_;
  Room room_;
  std::uint32_t fifo_slots_;
  Loop loop_;
  /// By NPU and lane.
  std::vector<std::vector<Passages>> lanes_;
  // Of one NPU: by lane and step of the first round, where it is in a turn; by slot of scratch, who
  // uses it and where it is; and what a step waits for.
  std::vector<std::vector<std::uint32_t>> steps_;
  std::vector<std::vector<Access>> accesses_;
  std::vector<LoopSlot> scratch_;
  std::vector<LoopDependency> waits_;
};

}  // namespace

Result<std::optional<Loop>> lower_loop(const Topology& topology,
                                       const Collective& collective,
                                       const Schedule& schedule,
                                       const LowerOptions& options) {
  const ScheduleForm form = source_of(schedule).form();
  const Timetable* const* timetable = std::get_if<const Timetable*>(&form);
  if (timetable == nullptr || options.credits ||
      (options.in_place && !can_be_in_place(collective))) {
    return std::optional<Loop>();
  }
  const std::optional<Round> round = round_of(collective, **timetable);
  if (!round) {
    return std::optional<Loop>();
  }
  Lowering lowering(topology, round->collective, options);
  lowering.keep_messages();
  if (Status followed = lowering.follow(round->schedule); !followed) {
    return followed.error();
  }
  // Ranks that are in place have the messages of those that are not: all have a loop, or nobody.
  std::optional<Loop> loop;
  for (const bool in_place : {!options.in_place, options.in_place}) {
    if (in_place && !can_be_in_place(collective)) {
      continue;
    }
    loop.reset();
    for (const Room room : {Room::kFromArrival, Room::kFromStart}) {
      if (!loop) {
        loop =
            LoopWriter(collective, **timetable, options.fifo_slots, in_place, room).write(lowering);
      }
    }
    if (!loop) {
      break;
    }
  }
  return loop;
}

}  // namespace tacos
