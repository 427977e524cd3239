// SPDX-License-Identifier: MIT
#include "export/runtimes/fused.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "export/runtimes/units.h"

namespace tacos::exporting {
namespace {

/// A receive and the send that may go with it.
using Pair = std::pair<std::uint32_t, std::uint32_t>;

class Fusing {
 public:
  /// Blocks become one where so many quarters of the sends can be fused.
  Fusing(const BlockProgram& program, const BlockLimits& limits, std::size_t quarters)
      : limits_(limits),
        quarters_(quarters),
        units_(take_apart(program)),
        gpus_(program.gpus.size()) {
    block_of_.resize(units_.units.size());
    for (std::uint32_t b = 0; b < units_.order.size(); ++b) {
      for (const std::uint32_t id : units_.order[b]) {
        block_of_[id] = b;
      }
    }
    // A FIFO is known by the block that sends to it.
    for (std::uint32_t b = 0; b < units_.blocks.size(); ++b) {
      root_.push_back(b);
      ends_.emplace_back();
      if (units_.blocks[b].send >= 0) {
        ends_[b].emplace(units_.gpu_of[b], static_cast<std::uint32_t>(units_.blocks[b].send));
      }
    }
  }

  /// False when there is nothing to do, or nothing can be done.
  bool run(std::uint32_t fifo_slots) {
    bool any = false;
    for (const auto& [receiver, sender, pairs] : candidates()) {
      any |= join(receiver, sender, pairs);
    }
    if (!any) {
      return false;
    }
    const std::vector<std::uint32_t> length = chains(units_, fifo_slots);
    if (length.empty()) {
      return false;
    }
    for (const auto& [receiver, sender] : joined_) {
      merge(receiver, sender, length);
    }
    name_operations(length);
    choose_channels();
    return true;
  }
  [[nodiscard]] BlockProgram take() const { return put_together(units_, gpus_); }

 private:
  using Candidate = std::tuple<std::uint32_t, std::uint32_t, std::vector<Pair>>;

  /// Blocks that have something to fuse, most first.
  [[nodiscard]] std::vector<Candidate> candidates() const {
    std::map<Pair, std::vector<Pair>> found;
    for (std::uint32_t b = 0; b < units_.order.size(); ++b) {
      for (const std::uint32_t id : units_.order[b]) {
        const Unit& send = units_.units[id];
        if (send.step.op != BlockOp::kSend || send.waits.size() != 1) {
          continue;
        }
        const Unit& from = units_.units[send.waits.front()];
        if (from.receives() && from.step.to == send.step.from &&
            from.step.count == send.step.count) {
          // In order, and each once.
          std::vector<Pair>& pairs = found[{block_of_[send.waits.front()], b}];
          if (pairs.empty() || pairs.back().first < send.waits.front()) {
            pairs.emplace_back(send.waits.front(), id);
          }
        }
      }
    }
    std::vector<Candidate> all;
    all.reserve(found.size());
    for (auto& [blocks, pairs] : found) {
      all.emplace_back(blocks.first, blocks.second, std::move(pairs));
    }
    std::stable_sort(all.begin(), all.end(), [](const Candidate& a, const Candidate& b) {
      return std::get<2>(a).size() > std::get<2>(b).size();
    });
    return all;
  }

  [[nodiscard]] std::uint32_t root(std::uint32_t fifo) const {
    while (root_[fifo] != fifo) {
      fifo = root_[fifo];
    }
    return fifo;
  }
  [[nodiscard]] std::size_t steps(std::uint32_t block) const {
    std::size_t sum = 0;
    for (const std::uint32_t id : units_.order[block]) {
      sum += std::max<std::size_t>(1, units_.units[id].waits.size());
    }
    return sum;
  }

  bool join(std::uint32_t receiver, std::uint32_t sender, const std::vector<Pair>& pairs) {
    const bool worth = 4 * pairs.size() >= quarters_ * units_.order[sender].size();
    const bool fits = steps(receiver) + steps(sender) - pairs.size() <= limits_.steps;
    const bool taken = std::any_of(joined_.begin(), joined_.end(), [&](const Pair& other) {
      return other.first == receiver || other.second == sender;
    });
    const std::uint32_t fifo = block_of_[*units_.units[units_.order[receiver].front()].other];
    const std::uint32_t a = root(fifo);
    const std::uint32_t b = root(sender);
    // One channel has one FIFO between two GPUs.
    const bool apart = std::none_of(ends_[b].begin(), ends_[b].end(), [&](const Pair& ends) {
      return ends_[a].contains(ends);
    });
    if (!worth || !fits || taken || (a != b && !apart)) {
      return false;
    }
    if (a != b) {
      root_[b] = a;
      ends_[a].insert(ends_[b].begin(), ends_[b].end());
      ends_[b].clear();
    }
    for (const auto& [receive, send] : pairs) {
      units_.units[receive].sends_on = send;
      units_.units[send].waits.clear();
    }
    joined_.emplace_back(receiver, sender);
    return true;
  }

  void merge(std::uint32_t receiver,
             std::uint32_t sender,
             const std::vector<std::uint32_t>& length) {
    std::set<std::uint32_t> fused;
    std::vector<std::uint32_t>& order = units_.order[receiver];
    for (const std::uint32_t id : order) {
      if (units_.units[id].sends_on) {
        fused.insert(*units_.units[id].sends_on);
      }
    }
    for (const std::uint32_t id : units_.order[sender]) {
      if (!fused.contains(id)) {
        order.push_back(id);
      }
    }
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
      return length[a] < length[b];
    });
    units_.order[sender].clear();
    units_.blocks[receiver].send = units_.blocks[sender].send;
  }

  /// When a slot is used, and whether all that was there is then gone.
  struct Use {
    std::uint32_t time = 0;
    bool overwrites = false;
  };
  using Uses = std::map<std::pair<std::uint32_t, Slot>, std::vector<Use>>;

  void name_operations(const std::vector<std::uint32_t>& length) {
    Uses uses;
    for (const std::vector<std::uint32_t>& order : units_.order) {
      for (const std::uint32_t id : order) {
        note_uses(units_.units[id], length[id], uses);
      }
    }
    for (const std::vector<std::uint32_t>& order : units_.order) {
      for (const std::uint32_t id : order) {
        Unit& unit = units_.units[id];
        if (!unit.sends_on) {
          continue;
        }
        if (unit.step.op == BlockOp::kReceive) {
          unit.step.op = BlockOp::kReceiveCopySend;
        } else {
          unit.step.op = is_read_again(unit, length[id], uses) ? BlockOp::kReceiveReduceCopySend
                                                               : BlockOp::kReceiveReduceSend;
        }
      }
    }
  }
  static void note_uses(const Unit& unit, std::uint32_t time, Uses& uses) {
    for (std::uint32_t i = 0; i < unit.step.count; ++i) {
      const auto note = [&](Slot slot, bool overwrites) {
        slot.index += i;
        uses[{unit.gpu, slot}].push_back({time, overwrites});
      };
      if (unit.step.op != BlockOp::kReceive) {
        note(unit.step.from, false);
      }
      if (unit.step.op != BlockOp::kSend) {
        const bool adds =
            unit.step.op == BlockOp::kReduce ||
            (unit.step.op == BlockOp::kReceiveReduce && unit.step.from == unit.step.to);
        note(unit.step.to, !adds);
      }
    }
  }
  /// Whether somebody wants the sum beside those that it is sent to. What is left at the end is
  /// wanted unless it is scratch.
  [[nodiscard]] static bool is_read_again(const Unit& unit, std::uint32_t time, const Uses& uses) {
    for (std::uint32_t i = 0; i < unit.step.count; ++i) {
      const Slot slot{unit.step.to.buffer, unit.step.to.index + i};
      const Use* next = nullptr;
      for (const Use& use : uses.at({unit.gpu, slot})) {
        if (use.time > time && (next == nullptr || use.time < next->time)) {
          next = &use;
        }
      }
      if (next == nullptr ? slot.buffer != Buffer::kScratch : !next->overwrites) {
        return true;
      }
    }
    return false;
  }

  /// The first on which all FIFOs that blocks join are free.
  void choose_channels() {
    std::map<std::uint32_t, std::uint32_t> channel_of;
    std::set<std::tuple<std::uint32_t, Pair>> taken;
    std::map<Pair, std::uint32_t> sending;
    std::map<Pair, std::uint32_t> receiving;
    for (std::uint32_t fifo = 0; fifo < root_.size(); ++fifo) {
      const std::uint32_t all = root(fifo);
      if (channel_of.contains(all) || ends_[all].empty()) {
        continue;
      }
      std::uint32_t channel = 0;
      const auto is_free = [&](const Pair& ends) {
        return !taken.contains({channel, ends}) &&
               sending[{channel, ends.first}] < limits_.blocks_per_channel &&
               receiving[{channel, ends.second}] < limits_.blocks_per_channel;
      };
      while (!std::all_of(ends_[all].begin(), ends_[all].end(), is_free)) {
        ++channel;
      }
      for (const Pair& ends : ends_[all]) {
        taken.emplace(channel, ends);
        ++sending[{channel, ends.first}];
        ++receiving[{channel, ends.second}];
      }
      channel_of[all] = channel;
    }
    for (std::uint32_t b = 0; b < units_.order.size(); ++b) {
      for (const std::uint32_t id : units_.order[b]) {
        const Unit& unit = units_.units[id];
        if (unit.other) {
          const std::uint32_t send = unit.step.op == BlockOp::kSend ? id : *unit.other;
          units_.blocks[b].channel = channel_of[root(block_of_[send])];
        }
      }
    }
  }

  const BlockLimits& limits_;
  std::size_t quarters_;
  UnitProgram units_;
  std::size_t gpus_;
  /// By unit: the block that it was in.
  std::vector<std::uint32_t> block_of_;
  /// By FIFO: another that shares its channel, itself for the last.
  std::vector<std::uint32_t> root_;
  /// By FIFO: the GPUs at both ends of all that share its channel.
  std::vector<std::set<Pair>> ends_;
  std::vector<Pair> joined_;
};

}  // namespace

BlockProgram fuse(const BlockProgram& program,
                  const BlockLimits& limits,
                  std::uint32_t fifo_slots) {
  for (const std::size_t quarters : {2U, 3U, 4U}) {
    Fusing fusing(program, limits, quarters);
    if (fusing.run(fifo_slots)) {
      BlockProgram fused = fusing.take();
      if (fused.channels <= std::max(program.channels, limits.channels)) {
        return fused;
      }
    }
  }
  return program;
}

}  // namespace tacos::exporting
