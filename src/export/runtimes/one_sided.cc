// SPDX-License-Identifier: MIT
#include "export/runtimes/one_sided.h"

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>

#include "export/runtimes/beats.h"
#include "export/runtimes/slot_uses.h"

namespace tacos::exporting {
namespace {

/// Of what a participant puts in some beats to another, the last beat, and when that is waited for.
struct Message {
  std::uint32_t src = 0;
  std::uint32_t dst = 0;
  std::uint32_t signal = 0;
  std::uint32_t wait = 0;
  /// What the sender had heard by then.
  std::vector<std::int64_t> clock;
};

/// One slot of a put.
struct Piece {
  std::uint32_t send = 0;
  std::uint32_t peer = 0;
  ChannelKind channel = ChannelKind::kMemory;
  Slot from;
  /// None where it is to land in scratch of its own.
  std::optional<Slot> to;
};

class Writer {
 public:
  Writer(const Program& program, std::span<const std::uint32_t> boxes, std::uint32_t width)
      : boxes_(boxes),
        beats_(beats_of(program, width)),
        uses_(use_slots(program, beats_)),
        rank_(program.npus.size(), 0),
        gpus_(program.collective.num_participants()),
        message_of_(beats_.steps.size(), 0),
        landing_(beats_.steps.size()),
        clocks_(gpus_.size(), std::vector<std::int64_t>(gpus_.size(), -1)),
        flushed_(gpus_.size(), std::vector<std::int64_t>(gpus_.size(), -1)) {
    const auto participants = program.collective.participants();
    for (std::uint32_t p = 0; p < participants.size(); ++p) {
      rank_[participants[p].index()] = p;
      gpus_[p].scratch = uses_.scratch[participants[p].index()];
    }
    make_messages();
  }

  std::vector<GpuOps> run() {
    begin();
    std::size_t next = 0;
    for (std::uint32_t beat = 0; beat < beats_.count; ++beat) {
      put(beat, next);
      signal(beat);
      wait(beat);
      work(beat, next);
    }
    end();
    return std::move(gpus_);
  }

 private:
  [[nodiscard]] const BeatStep& step(std::uint32_t id) const { return beats_.steps[id]; }
  [[nodiscard]] bool sends(std::uint32_t id) const { return step(id).sends(); }
  [[nodiscard]] std::uint32_t rank(std::uint32_t id) const { return rank_[step(id).npu]; }
  [[nodiscard]] ChannelKind channel(std::uint32_t send) const {
    const bool together = boxes_[step(send).npu] == boxes_[step(step(send).other).npu];
    return together ? ChannelKind::kMemory : ChannelKind::kPort;
  }
  [[nodiscard]] ChannelKind channel(const Message& message) const {
    return channels_[message.src * gpus_.size() + message.dst];
  }

  /// All puts to a peer that it takes at one time need one signal, after the last.
  void make_messages() {
    using Key = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>;
    std::vector<Key> sent;
    channels_.resize(gpus_.size() * gpus_.size());
    for (std::uint32_t id = 0; id < beats_.steps.size(); ++id) {
      if (sends(id)) {
        sent.emplace_back(rank(id), rank(step(id).other), step(id).beat, id);
        channels_[rank(id) * gpus_.size() + rank(step(id).other)] = channel(id);
      }
    }
    std::sort(sent.begin(), sent.end());
    for (std::size_t i = sent.size(); i-- > 0;) {
      const auto& [src, dst, beat, id] = sent[i];
      const std::uint32_t due = step(step(id).other).due;
      const bool same = !messages_.empty() && messages_.back().src == src &&
                        messages_.back().dst == dst &&
                        (due >= messages_.back().wait || beat == messages_.back().signal);
      if (!same) {
        messages_.push_back({.src = src, .dst = dst, .signal = beat, .wait = due, .clock = {}});
      }
      messages_.back().wait = std::min(messages_.back().wait, due);
      message_of_[id] = static_cast<std::uint32_t>(messages_.size()) - 1;
    }
    for (std::uint32_t m = 0; m < messages_.size(); ++m) {
      by_signal_.emplace_back(messages_[m].signal, m);
      by_wait_.emplace_back(messages_[m].wait, m);
    }
    std::sort(by_signal_.begin(), by_signal_.end());
    std::sort(by_wait_.begin(), by_wait_.end());
  }

  /// An operation of several peers, as many as it takes.
  void add(std::uint32_t rank,
           GpuOpKind kind,
           ChannelKind channel,
           const std::vector<std::uint32_t>& peers) {
    for (std::size_t first = 0; first < peers.size(); first += kMostPerOp) {
      const std::size_t last = std::min(peers.size(), first + kMostPerOp);
      GpuOp op{.kind = kind, .channel = channel};
      op.peers.assign(peers.begin() + static_cast<std::ptrdiff_t>(first),
                      peers.begin() + static_cast<std::ptrdiff_t>(last));
      gpus_[rank].ops.push_back(std::move(op));
    }
  }
  /// For each rank and kind of channel the peers that `of` gives.
  using Peers = std::vector<std::tuple<std::uint32_t, ChannelKind, std::uint32_t>>;
  void add_all(GpuOpKind kind, Peers peers) {
    std::sort(peers.begin(), peers.end());
    peers.erase(std::unique(peers.begin(), peers.end()), peers.end());
    for (std::size_t i = 0; i < peers.size();) {
      const auto& [rank, channel, first] = peers[i];
      std::vector<std::uint32_t> same;
      for (; i < peers.size() && std::get<0>(peers[i]) == rank && std::get<1>(peers[i]) == channel;
           ++i) {
        same.push_back(std::get<2>(peers[i]));
      }
      add(rank, kind, channel, same);
    }
  }

  /// Nobody's memory is written to before its kernel runs.
  void begin() {
    Peers told;
    Peers asked;
    for (const Message& message : messages_) {
      told.emplace_back(message.dst, channel(message), message.src);
      asked.emplace_back(message.src, channel(message), message.dst);
    }
    add_all(GpuOpKind::kBegun, std::move(told));
    add_all(GpuOpKind::kAwaitPeer, std::move(asked));
  }

  /// Whether a participant has heard that a step was done: of a send, that its slot was read.
  [[nodiscard]] bool knows(std::uint32_t self, std::uint32_t id) const {
    if (sends(id) && channel(id) == ChannelKind::kPort) {
      const Message& message = messages_[message_of_[id]];
      return clocks_[self][message.dst] >= std::int64_t{2} * message.wait + 1 ||
             (self == rank(id) && flushed_[self][message.dst] >= step(id).time());
    }
    return self == rank(id) || clocks_[self][rank(id)] >= step(id).time();
  }
  [[nodiscard]] bool knows_all(std::uint32_t self, std::uint32_t id) const {
    const auto before = uses_.before(id);
    return std::all_of(
        before.begin(), before.end(), [&](std::uint32_t other) { return knows(self, other); });
  }

  void put(std::uint32_t beat, std::size_t& next) {
    std::vector<Piece> pieces;
    for (; next < beats_.order.size() && step(beats_.order[next]).time() == 2 * beat; ++next) {
      const std::uint32_t id = beats_.order[next];
      if (is_credit(step(id).step->kind)) {
        continue;
      }
      const std::uint32_t there = step(id).other;
      const bool direct =
          step(there).step->kind == StepKind::kReceive && knows_all(rank(id), there);
      pieces.push_back({.send = id,
                        .peer = rank(there),
                        .channel = channel(id),
                        .from = uses_.from[id],
                        .to = direct ? std::optional(uses_.to[there]) : std::nullopt});
    }
    const auto key = [&](const Piece& piece) {
      const auto ranks = static_cast<std::uint32_t>(gpus_.size());
      // Not everybody to the same peer first.
      const std::uint32_t turn = (piece.peer + ranks - rank(piece.send)) % ranks;
      return std::tuple(
          rank(piece.send), piece.channel, piece.from.buffer, turn, !piece.to, piece.from.index);
    };
    std::stable_sort(pieces.begin(), pieces.end(), [&](const Piece& a, const Piece& b) {
      return key(a) < key(b);
    });
    for (Piece& piece : pieces) {
      if (!piece.to) {
        piece.to = Slot{Buffer::kScratch, gpus_[piece.peer].scratch++};
        landing_[step(piece.send).other] = piece.to;
      }
      add_piece(gpus_[rank(piece.send)].ops, piece);
    }
  }
  /// To the last operation where it can be a part of it.
  static void add_piece(std::vector<GpuOp>& ops, const Piece& piece) {
    const bool open = !ops.empty() && ops.back().kind == GpuOpKind::kPut &&
                      ops.back().channel == piece.channel &&
                      ops.back().from.back().first.buffer == piece.from.buffer;
    if (open && ops.back().peers.back() == piece.peer &&
        continues(ops.back().from.back(), piece.from) &&
        continues(ops.back().to.back(), *piece.to)) {
      ++ops.back().from.back().count;
      ++ops.back().to.back().count;
      return;
    }
    if (!open || ops.back().peers.size() == kMostPerOp) {
      ops.push_back({.kind = GpuOpKind::kPut, .channel = piece.channel});
    }
    ops.back().peers.push_back(piece.peer);
    ops.back().from.push_back({.first = piece.from});
    ops.back().to.push_back({.first = *piece.to});
  }
  static bool continues(const SlotRange& range, const Slot& slot) {
    return slot.buffer == range.first.buffer && slot.index == range.first.index + range.count;
  }

  void signal(std::uint32_t beat) {
    for (std::uint32_t r = 0; r < gpus_.size(); ++r) {
      clocks_[r][r] = std::int64_t{2} * beat;
    }
    Peers peers;
    for (; signalled_ < by_signal_.size() && by_signal_[signalled_].first == beat; ++signalled_) {
      Message& message = messages_[by_signal_[signalled_].second];
      message.clock = clocks_[message.src];
      peers.emplace_back(message.src, channel(message), message.dst);
    }
    add_all(GpuOpKind::kSignal, std::move(peers));
  }

  void wait(std::uint32_t beat) {
    Peers peers;
    for (; waited_ < by_wait_.size() && by_wait_[waited_].first == beat; ++waited_) {
      Message& message = messages_[by_wait_[waited_].second];
      std::vector<std::int64_t>& clock = clocks_[message.dst];
      std::transform(clock.begin(),
                     clock.end(),
                     message.clock.begin(),
                     clock.begin(),
                     [](std::int64_t a, std::int64_t b) { return std::max(a, b); });
      message.clock = {};
      peers.emplace_back(message.dst, channel(message), message.src);
    }
    add_all(GpuOpKind::kWait, std::move(peers));
  }

  /// What has landed is copied or added, and what is local is done.
  void work(std::uint32_t beat, std::size_t& next) {
    const std::size_t first = next;
    Peers flushes;
    for (; next < beats_.order.size() && step(beats_.order[next]).time() == 2 * beat + 1; ++next) {
      const std::uint32_t id = beats_.order[next];
      if (is_local(id)) {
        for (const std::uint32_t other : uses_.before(id)) {
          if (!knows(rank(id), other)) {
            const std::uint32_t peer = rank(step(other).other);
            flushes.emplace_back(rank(id), ChannelKind::kPort, peer);
            flushed_[rank(id)][peer] = std::int64_t{2} * beat;
          }
        }
      }
    }
    add_all(GpuOpKind::kFlush, std::move(flushes));
    std::vector<std::vector<GpuOp>> ops(gpus_.size());
    for (std::size_t i = first; i < next; ++i) {
      if (is_local(beats_.order[i])) {
        add_work(ops[rank(beats_.order[i])], beats_.order[i]);
      }
    }
    for (std::uint32_t r = 0; r < gpus_.size(); ++r) {
      clocks_[r][r] = std::int64_t{2} * beat + 1;
      for (GpuOp& op : ops[r]) {
        add_joined(gpus_[r].ops, std::move(op));
      }
    }
  }
  /// Whether the NPU itself has something to do: not where a put landed in its place.
  [[nodiscard]] bool is_local(std::uint32_t id) const {
    const StepKind kind = step(id).step->kind;
    return (kind != StepKind::kReceive && kind != StepKind::kAwait) || landing_[id].has_value();
  }

  void add_work(std::vector<GpuOp>& ops, std::uint32_t id) const {
    const Slot to = uses_.to[id];
    const StepKind kind = step(id).step->kind;
    const bool adds = kind == StepKind::kReceiveReduce || kind == StepKind::kReduce;
    const Slot what = landing_[id] ? *landing_[id] : uses_.from[id];
    const Slot base = kind == StepKind::kReceiveReduce ? uses_.from[id] : to;
    // A sum that has been begun goes on where that was.
    GpuOp* const begun = adds && base == to ? find_sum(ops, to, what) : nullptr;
    if (begun != nullptr) {
      begun->kind = GpuOpKind::kReduce;
      begun->from.push_back({.first = what});
      return;
    }
    GpuOp op{.kind = adds ? GpuOpKind::kReduce : GpuOpKind::kCopy};
    if (adds) {
      op.from.push_back({.first = base});
    }
    op.from.push_back({.first = what});
    op.to.push_back({.first = to});
    ops.push_back(std::move(op));
  }
  /// The last operation on a slot, if something else can still be added there.
  static GpuOp* find_sum(std::vector<GpuOp>& ops, const Slot& sum, const Slot& what) {
    const auto uses = [](const std::vector<SlotRange>& slots, const Slot& slot) {
      return std::any_of(
          slots.begin(), slots.end(), [&](const SlotRange& one) { return one.first == slot; });
    };
    for (auto op = ops.rbegin(); op != ops.rend(); ++op) {
      if (op->to.front().first == sum) {
        return op->from.size() < kMostPerOp ? &*op : nullptr;
      }
      if (uses(op->from, sum) || uses(op->to, what)) {
        return nullptr;
      }
    }
    return nullptr;
  }
  /// Neighbours that are done alike are done together.
  static void add_joined(std::vector<GpuOp>& ops, GpuOp op) {
    if (ops.empty() || ops.back().kind != op.kind || ops.back().from.size() != op.from.size() ||
        (op.kind != GpuOpKind::kCopy && op.kind != GpuOpKind::kReduce) ||
        !continues(ops.back().to.front(), op.to.front().first)) {
      ops.push_back(std::move(op));
      return;
    }
    GpuOp joined = ops.back();
    ++joined.to.front().count;
    for (std::size_t i = 0; i < op.from.size(); ++i) {
      const bool next = continues(joined.from[i], op.from[i].first);
      ++joined.from[i].count;
      if (!next || !is_apart(joined.from[i], joined.to.front())) {
        ops.push_back(std::move(op));
        return;
      }
    }
    ops.back() = std::move(joined);
  }
  /// Or the same.
  static bool is_apart(const SlotRange& a, const SlotRange& b) {
    return a.first == b.first || a.first.buffer != b.first.buffer ||
           a.first.index + a.count <= b.first.index || b.first.index + b.count <= a.first.index;
  }

  /// What was put through ports has been read when the kernel ends.
  void end() {
    Peers peers;
    for (std::uint32_t id = 0; id < beats_.steps.size(); ++id) {
      if (sends(id) && !is_credit(step(id).step->kind) && !knows(rank(id), id)) {
        peers.emplace_back(rank(id), ChannelKind::kPort, rank(step(id).other));
      }
    }
    add_all(GpuOpKind::kFlush, std::move(peers));
  }

  std::span<const std::uint32_t> boxes_;
  Beats beats_;
  SlotUses uses_;
  /// By NPU.
  std::vector<std::uint32_t> rank_;
  std::vector<GpuOps> gpus_;
  /// By source and destination.
  std::vector<ChannelKind> channels_;
  std::vector<Message> messages_;
  /// By beat.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> by_signal_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> by_wait_;
  std::size_t signalled_ = 0;
  std::size_t waited_ = 0;
  /// By send.
  std::vector<std::uint32_t> message_of_;
  /// By receive: where it lands when not in its place.
  std::vector<std::optional<Slot>> landing_;
  /// By participant: until when it has heard that each one is done.
  std::vector<std::vector<std::int64_t>> clocks_;
  /// By source and destination: what was sent by then has been read.
  std::vector<std::vector<std::int64_t>> flushed_;
};

}  // namespace

std::vector<GpuOps> one_sided(const Program& program,
                              std::span<const std::uint32_t> boxes,
                              std::uint32_t width) {
  return Writer(program, boxes, width).run();
}

}  // namespace tacos::exporting
