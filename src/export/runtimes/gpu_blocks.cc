// SPDX-License-Identifier: MIT
// O(operations x those between two nops).
#include "export/runtimes/gpu_blocks.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

namespace tacos::exporting {
namespace {

bool moves_data(GpuOpKind kind) {
  return kind == GpuOpKind::kPut || kind == GpuOpKind::kCopy || kind == GpuOpKind::kReduce;
}
bool hears(GpuOpKind kind) {
  return kind == GpuOpKind::kWait || kind == GpuOpKind::kAwaitPeer || kind == GpuOpKind::kFlush ||
         kind == GpuOpKind::kAcquire;
}
bool tells(GpuOpKind kind) {
  return kind == GpuOpKind::kSignal || kind == GpuOpKind::kFlush || kind == GpuOpKind::kRelease;
}
bool counts_out(GpuOpKind kind) {
  return kind == GpuOpKind::kSignal || kind == GpuOpKind::kBegun;
}
bool counts_in(GpuOpKind kind) {
  return kind == GpuOpKind::kWait || kind == GpuOpKind::kAwaitPeer;
}

bool overlaps(const SlotRange& a, const SlotRange& b) {
  return a.first.buffer == b.first.buffer && a.first.index < b.first.index + b.count &&
         b.first.index < a.first.index + a.count;
}
bool overlap(const std::vector<SlotRange>& some, const std::vector<SlotRange>& others) {
  return std::any_of(some.begin(), some.end(), [&](const SlotRange& a) {
    return std::any_of(
        others.begin(), others.end(), [&](const SlotRange& b) { return overlaps(a, b); });
  });
}
/// Whether one writes here what the other uses.
bool collide(const GpuOp& a, const GpuOp& b) {
  const bool a_writes = a.kind != GpuOpKind::kPut;
  const bool b_writes = b.kind != GpuOpKind::kPut;
  return (a_writes && (overlap(a.to, b.from) || (b_writes && overlap(a.to, b.to)))) ||
         (b_writes && overlap(b.to, a.from));
}

class Packing {
 public:
  explicit Packing(const GpuLimits& limits) : limits_(limits) { blocks_.emplace_back(); }

  void add(const GpuOp& op) {
    // With a nop before it, and a nop and a release behind.
    if (blocks_.back().ops.size() + 4 > limits_.ops || !knows_channels(op)) {
      go_on();
    }
    if (must_meet(op)) {
      meet();
    }
    note(op);
    blocks_.back().ops.push_back(op);
  }

  std::vector<GpuBlock> take() {
    if (blocks_.back().ops.empty()) {
      blocks_.back().ops.emplace_back();
    }
    return std::move(blocks_);
  }

 private:
  /// Buffers of a peer by the number of their kind, and the channel to it.
  using Known = std::set<std::pair<std::uint32_t, Buffer>>;

  [[nodiscard]] bool knows_channels(const GpuOp& op) const {
    const auto kind = static_cast<std::size_t>(op.channel);
    std::set<std::uint32_t> peers = peers_[kind];
    peers.insert(op.peers.begin(), op.peers.end());
    Known buffers = buffers_[kind];
    for (std::size_t i = 0; op.kind == GpuOpKind::kPut && i < op.peers.size(); ++i) {
      buffers.emplace(op.peers[i], op.to[i].first.buffer);
    }
    return peers.size() <= limits_.channels && buffers.size() <= limits_.channels;
  }

  [[nodiscard]] bool must_meet(const GpuOp& op) const {
    if (tells(op.kind) && (heard_ || !moved_.empty())) {
      return true;
    }
    if (moves_data(op.kind)) {
      return heard_ || std::any_of(moved_.begin(), moved_.end(), [&](const GpuOp& other) {
               return collide(op, other);
             });
    }
    return std::any_of(counted_.begin(), counted_.end(), [&](const GpuOp& other) {
      return count_alike(op, other);
    });
  }
  /// Whether two signal on one channel, or wait: its counters are not for two threads at once.
  [[nodiscard]] static bool count_alike(const GpuOp& a, const GpuOp& b) {
    const bool alike = a.channel == b.channel && ((counts_out(a.kind) && counts_out(b.kind)) ||
                                                  (counts_in(a.kind) && counts_in(b.kind)));
    return alike &&
           std::find_first_of(a.peers.begin(), a.peers.end(), b.peers.begin(), b.peers.end()) !=
               a.peers.end();
  }
  void meet() {
    blocks_.back().ops.emplace_back();
    heard_ = false;
    moved_.clear();
    counted_.clear();
  }
  void note(const GpuOp& op) {
    heard_ |= hears(op.kind);
    if (moves_data(op.kind)) {
      moved_.push_back(op);
    }
    if (counts_out(op.kind) || counts_in(op.kind)) {
      counted_.push_back(op);
    }
    const auto kind = static_cast<std::size_t>(op.channel);
    peers_[kind].insert(op.peers.begin(), op.peers.end());
    for (std::size_t i = 0; op.kind == GpuOpKind::kPut && i < op.peers.size(); ++i) {
      buffers_[kind].emplace(op.peers[i], op.to[i].first.buffer);
    }
  }

  void go_on() {
    const auto semaphore = static_cast<std::uint32_t>(blocks_.size()) - 1;
    if (heard_ || !moved_.empty() || !counted_.empty()) {
      meet();
    }
    blocks_.back().ops.push_back({.kind = GpuOpKind::kRelease, .semaphore = semaphore});
    blocks_.emplace_back();
    blocks_.back().ops.push_back({.kind = GpuOpKind::kAcquire, .semaphore = semaphore});
    meet();
    peers_ = {};
    buffers_ = {};
  }

  const GpuLimits& limits_;
  std::vector<GpuBlock> blocks_;
  /// Since the threads met.
  std::vector<GpuOp> moved_;
  std::vector<GpuOp> counted_;
  bool heard_ = false;
  std::array<std::set<std::uint32_t>, 2> peers_;
  std::array<Known, 2> buffers_;
};

}  // namespace

std::vector<GpuBlock> to_gpu_blocks(const std::vector<GpuOp>& ops, const GpuLimits& limits) {
  Packing packing(limits);
  for (const GpuOp& op : ops) {
    packing.add(op);
  }
  return packing.take();
}

}  // namespace tacos::exporting
