// SPDX-License-Identifier: MIT
// Replays a schedule in time order and writes down what each NPU does.
//
// What is sent is the value when the transfer starts, and what arrives at an instant is there for
// what starts then. So a send is written when its transfer starts and a receive when it ends, what
// ends before what starts: every wait is for something earlier, and nothing can wait for itself.
// With as many messages in a FIFO as were ever on the way, that holds for full FIFOs too. With
// fewer a program may get stuck, for want of scratch above all: then scratch is not used twice.
//
// A chunk is kept where the NPU must have it in the end; a chunk that only passes through, or a sum
// that somebody else completes, is in scratch, from when it comes until it is sent for the last
// time. Between two NPUs messages arrive in the order of their sending: one that would overtake
// another takes another channel.
//
// With credits, a receiver tells a sender that what comes before through its port has arrived. Both
// are written when the transfer starts, so this too is a wait for something earlier.
//
// O(moves x log in flight), 8 bytes for each place: NPU and chunk.
#include "tacos/lower.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/assert.h"
#include "base/memory/room.h"
#include "lower/fifos.h"
#include "lower/npu_writer.h"
#include "lower/underway.h"
#include "schedule/read_ahead.h"

namespace tacos {
namespace {

using lowering::NpuWriter;

constexpr std::uint32_t kNobody = ~std::uint32_t{0};
/// Of messages without data, until it is known how many others there are.
constexpr std::uint32_t kCreditChannel = ~std::uint32_t{0};

/// A transfer on its way.
struct Flight {
  NodeId src;
  NodeId dst;
  LinkId port;
  std::uint32_t channel = 0;
  Op op = Op::kCopy;
  std::vector<ChunkId> chunks;
};
/// What an NPU has of a chunk. Small, as there is one for every chunk and NPU.
class Place {
 public:
  /// Where it is, if it is there.
  [[nodiscard]] std::optional<Slot> slot() const {
    return at_ == 0 ? std::nullopt
                    : std::optional(Slot{static_cast<Buffer>((at_ >> kIndexBits) - 1),
                                         at_ & ((1U << kIndexBits) - 1)});
  }
  void put(Slot slot) {
    TACOS_ASSERT(slot.index < 1U << kIndexBits, "collectives have fewer chunks");
    at_ = (static_cast<std::uint32_t>(slot.buffer) + 1) << kIndexBits | slot.index;
  }
  void clear() { at_ = 0; }

  /// How often it will still be sent from here, where that is counted.
  std::uint32_t sends = 0;

 private:
  static constexpr unsigned kIndexBits = 30;
  std::uint32_t at_ = 0;
};

/// Calls visit(participant) for those who have a chunk in the beginning, or in the end.
template <class Visit>
void for_each_holder(const Collective& collective,
                     ChunkId chunk,
                     bool in_the_end,
                     const Visit& visit) {
  const CollectiveTraits& kind = traits(collective.chunk_kind());
  switch (in_the_end ? kind.after : kind.before) {
    case Holder::kEveryone:
      for (std::uint32_t p = 0; p < collective.num_participants(); ++p) {
        visit(p);
      }
      break;
    case Holder::kOwner:
      visit(collective.owner(chunk));
      break;
    case Holder::kRoot: {
      const auto all = collective.participants();
      visit(static_cast<std::uint32_t>(std::lower_bound(all.begin(), all.end(), collective.root()) -
                                       all.begin()));
      break;
    }
    case Holder::kDestination:
      visit(chunk.value() / static_cast<std::uint32_t>(collective.chunk_argument()) %
            collective.num_participants());
      break;
    case Holder::kListed:
      for (const std::uint32_t p :
           in_the_end ? collective.destinations(chunk) : collective.sources(chunk)) {
        visit(p);
      }
      break;
  }
}

/// The channels from an NPU to another, each with when its last message arrives.
struct Pair {
  NodeId dst;
  std::vector<Ticks> last;
};

/// Whether scratch that is free is used again.
enum class Scratch { kReused, kOnce };

/// What came last through a port into an NPU, and who was told last that it has.
struct Arrival {
  NodeId src;
  Dependency receive;
  NodeId told;
};

class Lowering {
 public:
  Lowering(const Topology& topology,
           const Collective& collective,
           const LowerOptions& options,
           Scratch scratch)
      : topology_(topology),
        collective_(collective),
        in_place_(options.in_place),
        scratch_(scratch),
        gathered_(collective.form() == CollectiveForm::kGathered),
        all_end_with_all_(traits(collective.chunk_kind()).after == Holder::kEveryone &&
                          collective.num_participants() == topology.num_npus()),
        participant_(topology.num_npus(), kNobody),
        places_(std::size_t{topology.num_npus()} * collective.num_chunks()),
        pairs_(topology.num_npus()),
        arrivals_(options.credits ? topology.num_links() : 0) {
    for (std::uint32_t p = 0; p < collective.num_participants(); ++p) {
      participant_[collective.participants()[p].index()] = p;
    }
    for (std::uint32_t npu = 0; npu < topology.num_npus(); ++npu) {
      const std::uint32_t p = participant_[npu];
      writers_.emplace_back(p == kNobody ? BufferSlots{} : buffer_slots(collective, p, in_place_));
      if (gathered_ && adds(npu)) {
        writers_[npu].reserve_scratch(collective.num_chunks());
      }
    }
    for (std::uint32_t chunk = 0; chunk < collective.num_chunks(); ++chunk) {
      begin_with(ChunkId(chunk));
    }
  }

  /// How often each place is sent from, where somebody may be done with it.
  Status count(const Schedule& schedule) {
    if (all_end_with_all_) {
      return ok();
    }
    return read_transfers(schedule, 1, [&](const Transfer& transfer) {
      const NodeId src = topology_.link(transfer.links.front()).src;
      for (const ChunkId chunk : transfer.chunks) {
        ++place(src, chunk).sends;
      }
    });
  }

  Status write(const Schedule& schedule) {
    // So many transfers before it is their turn places are fetched from memory.
    constexpr std::size_t kAhead = 12;
    Status read = read_batches(schedule, 1, [&](const TransferBatch& batch) {
      for (std::size_t i = 0; i < batch.size(); ++i) {
        const Transfer later = batch[std::min(i + kAhead, batch.size() - 1)];
        const ChunkId chunk = later.chunks.front();
        __builtin_prefetch(&place(topology_.link(later.links.front()).src, chunk));
        __builtin_prefetch(&place(topology_.link(later.links.back()).dst, chunk));
        const Transfer transfer = batch[i];
        arrive_until(transfer.start);
        start(transfer);
      }
      return ok();
    });
    arrive_until(kMaxTime);
    finish();
    return read;
  }

  Program take() {
    name_credit_channels();
    Program program{.collective = collective_, .in_place = in_place_, .npus = {}};
    for (NpuWriter& writer : writers_) {
      program.npus.push_back(std::move(writer).take());
    }
    return program;
  }

 private:
  /// After those of data.
  void name_credit_channels() {
    for (std::uint32_t npu = 0; npu < writers_.size(); ++npu) {
      for (Lane& lane : writers_[npu].lanes()) {
        if (lane.channel == kCreditChannel) {
          const bool sends = lane.role == LaneRole::kSend;
          const std::uint32_t src = sends ? npu : lane.peer.value();
          const NodeId dst = sends ? lane.peer : NodeId(npu);
          lane.channel = static_cast<std::uint32_t>(pair(NodeId(src), dst).last.size());
        }
      }
    }
  }
  /// Made where there is none yet.
  [[nodiscard]] Pair& pair(NodeId src, NodeId dst) {
    std::vector<Pair>& pairs = pairs_[src.index()];
    const auto found =
        std::find_if(pairs.begin(), pairs.end(), [&](const Pair& one) { return one.dst == dst; });
    return found != pairs.end() ? *found : pairs.emplace_back(Pair{.dst = dst, .last = {}});
  }
  [[nodiscard]] Place& place(NodeId npu, ChunkId chunk) {
    return places_[npu.index() * collective_.num_chunks() + chunk.index()];
  }
  [[nodiscard]] bool ends_with(NodeId npu, ChunkId chunk) const {
    const std::uint32_t p = participant_[npu.index()];
    return all_end_with_all_ || (p != kNobody && collective_.ends_with(chunk, p));
  }
  /// Whether the NPU adds gathered contributions.
  [[nodiscard]] bool adds(std::uint32_t npu) const {
    return participant_[npu] != kNobody && collective_.ends_with(ChunkId(0), participant_[npu]);
  }

  void begin_with(ChunkId chunk) {
    for_each_holder(collective_, chunk, false, [&](std::uint32_t p) {
      place(collective_.participants()[p], chunk).put(input_slot(collective_, p, chunk, in_place_));
    });
  }

  void start(const Transfer& transfer) {
    const Ticks end =
        transfer.start +
        route_time(topology_, transfer.links, collective_.chunks().bytes(transfer.chunks));
    Flight& flight = underway_.load();
    flight.src = topology_.link(transfer.links.front()).src;
    flight.port = transfer.links.back();
    flight.dst = topology_.link(flight.port).dst;
    flight.op = transfer.op;
    flight.chunks.assign(transfer.chunks.begin(), transfer.chunks.end());
    flight.channel = channel_for(flight, end);
    NpuWriter& writer = writers_[flight.src.index()];
    std::optional<Dependency> awaited = admission(flight);
    const std::uint32_t lane = writer.lane(LaneRole::kSend, flight.dst, flight.channel);
    for (const ChunkId chunk : flight.chunks) {
      Place& from = place(flight.src, chunk);
      const std::optional<Slot> slot = from.slot();
      TACOS_ASSERT(slot.has_value(), "a schedule that was verified sends what is there");
      writer.send(lane, *slot, std::exchange(awaited, {}));
      --from.sends;
      let_go(flight.src, chunk);
    }
    underway_.send_off(end);
  }
  /// What a send must await of who receives it: that what somebody else sent through the same port
  /// has arrived, if the schedule has it so. Of what arrives later nothing is said, so that nothing
  /// waits for what comes after it.
  [[nodiscard]] std::optional<Dependency> admission(const Flight& flight) {
    if (arrivals_.empty()) {
      return std::nullopt;
    }
    std::optional<Arrival>& before = arrivals_[flight.port.index()];
    if (!before || before->src == flight.src || before->told == flight.src) {
      return std::nullopt;
    }
    before->told = flight.src;
    NpuWriter& receiver = writers_[flight.dst.index()];
    receiver.grant(receiver.lane(LaneRole::kSend, flight.src, kCreditChannel), before->receive);
    NpuWriter& sender = writers_[flight.src.index()];
    return sender.await(sender.lane(LaneRole::kReceive, flight.dst, kCreditChannel));
  }
  /// The first on which nothing would be overtaken.
  [[nodiscard]] std::uint32_t channel_for(const Flight& flight, Ticks end) {
    std::vector<Ticks>& arrivals = pair(flight.src, flight.dst).last;
    const auto found =
        std::find_if(arrivals.begin(), arrivals.end(), [&](Ticks last) { return last <= end; });
    const auto channel = static_cast<std::uint32_t>(found - arrivals.begin());
    if (found == arrivals.end()) {
      arrivals.push_back(end);
    } else {
      *found = end;
    }
    return channel;
  }

  void arrive_until(Ticks now) {
    underway_.arrive_until(now, [&](const Flight& flight) { arrive(flight); });
  }

  void arrive(const Flight& flight) {
    NpuWriter& writer = writers_[flight.dst.index()];
    const std::uint32_t lane = writer.lane(LaneRole::kReceive, flight.src, flight.channel);
    for (const ChunkId chunk : flight.chunks) {
      Place& at = place(flight.dst, chunk);
      const Slot to = home(flight.dst, chunk);
      const std::optional<Slot> before = at.slot();
      if (flight.op == Op::kReduce && before) {
        writer.receive_reduce(lane, *before, to);
      } else {
        writer.receive(lane, to);
      }
      at.put(to);
      let_go(flight.dst, chunk);
    }
    if (!arrivals_.empty()) {
      arrivals_[flight.port.index()] = {
          .src = flight.src, .receive = writer.last(lane), .told = flight.src};
    }
  }

  /// Where an NPU keeps a chunk that comes.
  [[nodiscard]] Slot home(NodeId npu, ChunkId chunk) {
    if (ends_with(npu, chunk)) {
      return gathered_ ? Slot{Buffer::kScratch, chunk.value()}
                       : output_slot(collective_, participant_[npu.index()], chunk, in_place_);
    }
    const std::optional<Slot> slot = place(npu, chunk).slot();
    return slot && slot->buffer == Buffer::kScratch ? *slot : writers_[npu.index()].take_scratch();
  }

  /// Gives scratch back that is not sent from any more. Something else may still come for it, which
  /// then has no use.
  void let_go(NodeId npu, ChunkId chunk) {
    if (all_end_with_all_) {
      return;
    }
    Place& at = place(npu, chunk);
    const std::optional<Slot> slot = at.slot();
    if (at.sends == 0 && slot && slot->buffer == Buffer::kScratch && !ends_with(npu, chunk)) {
      if (scratch_ == Scratch::kReused) {
        writers_[npu.index()].give_back(*slot);
      }
      at.clear();
    }
  }

  /// What is left to be done where everything has arrived.
  void finish() {
    if (gathered_) {
      for (std::uint32_t npu = 0; npu < topology_.num_npus(); ++npu) {
        if (adds(npu)) {
          add_contributions(npu);
        }
      }
      return;
    }
    for (std::uint32_t chunk = 0; chunk < collective_.num_chunks(); ++chunk) {
      for_each_holder(collective_, ChunkId(chunk), true, [&](std::uint32_t p) {
        bring_home(collective_.participants()[p].value(), ChunkId(chunk));
      });
    }
  }
  void bring_home(std::uint32_t npu, ChunkId chunk) {
    const std::optional<Slot> slot = place(NodeId(npu), chunk).slot();
    const Slot to = output_slot(collective_, participant_[npu], chunk, in_place_);
    if (slot && *slot != to) {
      writers_[npu].copy(*slot, to);
    }
  }

  /// In the order of participants, so that sums are equal bit for bit everywhere.
  void add_contributions(std::uint32_t npu) {
    const std::uint32_t own = participant_[npu];
    const auto chunks = static_cast<std::uint32_t>(collective_.chunk_argument());
    NpuWriter& writer = writers_[npu];
    for (std::uint32_t c = 0; c < chunks; ++c) {
      const ChunkId mine(own * chunks + c);
      const Slot sum = output_slot(collective_, own, mine, in_place_);
      Slot from = *place(NodeId(npu), mine).slot();
      if (from == sum) {
        // The sum is written over the input.
        from = {Buffer::kScratch, mine.value()};
        writer.copy(sum, from);
      }
      for (std::uint32_t p = 0; p < collective_.num_participants(); ++p) {
        const Slot part = p == own ? from : Slot{Buffer::kScratch, p * chunks + c};
        if (p == 0) {
          writer.copy(part, sum);
        } else {
          writer.reduce(part, sum);
        }
      }
    }
  }

  const Topology& topology_;
  const Collective& collective_;
  bool in_place_;
  Scratch scratch_;
  bool gathered_;
  /// Then nobody passes on what it does not keep.
  bool all_end_with_all_;
  /// By NPU: its number among the participants.
  std::vector<std::uint32_t> participant_;
  std::vector<Place> places_;
  std::vector<NpuWriter> writers_;
  /// By source.
  std::vector<std::vector<Pair>> pairs_;
  /// By link, if there are to be credits.
  std::vector<std::optional<Arrival>> arrivals_;
  lowering::Underway<Flight> underway_;
};

Result<Program> lower_with(const Topology& topology,
                           const Collective& collective,
                           const Schedule& schedule,
                           const LowerOptions& options,
                           Scratch scratch) {
  Lowering lowering(topology, collective, options, scratch);
  if (Status counted = lowering.count(schedule); !counted) {
    return counted.error();
  }
  if (Status written = lowering.write(schedule); !written) {
    return written.error();
  }
  return lowering.take();
}

}  // namespace

Result<Program> lower(const Topology& topology,
                      const Collective& collective,
                      const Schedule& schedule,
                      const LowerOptions& options) {
  if (options.in_place && !can_be_in_place(collective)) {
    return input_error(std::string(collective.name()) +
                       " cannot be done in place: what is received would overwrite what is still "
                       "to be sent; use --in-place no");
  }
  const std::uint64_t needed =
      sizeof(Place) * std::uint64_t{topology.num_npus()} * collective.num_chunks() +
      64 * schedule.num_moves();
  if (Status fits = check_memory_room(
          needed, std::nullopt, "fewer chunks or a smaller network", topology.name());
      !fits) {
    return fits.error();
  }
  Result<Program> program = lower_with(topology, collective, schedule, options, Scratch::kReused);
  if (program && !lowering::ends_with_fifos(*program, options.fifo_slots)) {
    program = lower_with(topology, collective, schedule, options, Scratch::kOnce);
    if (program && !lowering::ends_with_fifos(*program, options.fifo_slots)) {
      return input_error(
          fmt::format("a program of this schedule gets stuck with FIFOs of {} messages",
                      options.fifo_slots),
          topology.name());
    }
  }
  return program;
}

}  // namespace tacos
