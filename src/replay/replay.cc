// SPDX-License-Identifier: MIT
// What must not change when transfers move: who is before whom on a link, what a place held when
// it was sent, and what a copy replaced. Each is a difference constraint, start(b) >= start(a) + w,
// whose w depends on the model alone; the times of the schedule itself satisfy all of them, so the
// least solution is no later anywhere. It is found by relaxing the constraints in start order until
// nothing changes: one pass and one to see that, unless routes through several switches meet on
// more than one link.
//
// Of a place (an NPU's copy of a chunk) the constraints are:
//   - what arrived before a transfer started still does;
//   - what arrived later, does so when the transfer has ended (docs/schedule-format.md: what is
//     sent does not change meanwhile);
//   - a copy and its neighbours keep their order.
//
// Cost: O(transfers x links, and chunks, of each + places), times the visits of a place.
#include "replay/replay.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/csr.h"
#include "replay/retime.h"

namespace tacos::replay {
namespace {

/// start(to) >= start(from) + gap.
struct Constraint {
  std::uint32_t to = 0;
  std::uint32_t from = 0;
  Ticks gap;
};

/// A transfer on one of its links.
struct Use {
  /// When its head gets there, from its start.
  Ticks head;
  Ticks busy;
  std::uint32_t transfer = 0;
};

class Replay {
 public:
  Replay(const Topology& topology,
         const Collective& collective,
         LinkModel model,
         const TransferBatch& transfers)
      : topology_(topology), collective_(collective), model_(model), transfers_(transfers) {
    duration_.reserve(transfers.size());
    for (std::size_t i = 0; i < transfers.size(); ++i) {
      duration_.push_back(
          route_time(topology, transfers[i].links, collective.chunks().bytes(transfers[i].chunks)));
    }
    keep_order_on_links();
    keep_order_at_places();
    in_start_order();
  }

  [[nodiscard]] Schedule run() {
    std::vector<Ticks> start(transfers_.size());
    for (bool changed = true; changed;) {
      changed = false;
      for (const Constraint& constraint : constraints_) {
        const Ticks least = start[constraint.from] + constraint.gap;
        if (least > start[constraint.to]) {
          start[constraint.to] = least;
          changed = true;
        }
      }
    }
    std::vector<Ticks> end(start);
    for (std::size_t i = 0; i < end.size(); ++i) {
      end[i] += duration_[i];
    }
    return with_times(topology_, transfers_, start, end);
  }

 private:
  [[nodiscard]] Ticks start_of(std::uint32_t transfer) const {
    return transfers_.starts()[transfer];
  }
  [[nodiscard]] Ticks end_of(std::uint32_t transfer) const {
    return start_of(transfer) + duration_[transfer];
  }
  /// One ends no sooner than another, by `margin`.
  void end_after(std::uint32_t later, std::uint32_t sooner, Ticks margin) {
    constraints_.push_back({later, sooner, duration_[sooner] - duration_[later] + margin});
  }

  /// Of the transfers that they are for.
  void in_start_order() {
    const Csr<Constraint> sorted(transfers_.size(), [&](const auto& add) {
      for (const Constraint& constraint : constraints_) {
        add(constraint.to, constraint);
      }
    });
    constraints_.assign(sorted.all().begin(), sorted.all().end());
  }

  void keep_order_on_links() {
    const Csr<Use> uses(topology_.num_links(), [&](const auto& add) {
      for (std::uint32_t i = 0; i < transfers_.size(); ++i) {
        const Bytes bytes = collective_.chunks().bytes(transfers_[i].chunks);
        Ticks head;
        for (const LinkId id : transfers_[i].links) {
          const Link& link = topology_.link(id);
          add(id.index(), Use{head, link_cost(link, bytes, model_).busy, i});
          head += link.latency;
        }
      }
    });
    std::vector<Use> row;
    for (std::size_t link = 0; link < uses.num_owners(); ++link) {
      row.assign(uses[link].begin(), uses[link].end());
      std::sort(row.begin(), row.end(), [&](const Use& a, const Use& b) {
        return std::pair(start_of(a.transfer) + a.head, a.transfer) <
               std::pair(start_of(b.transfer) + b.head, b.transfer);
      });
      for (std::size_t i = 1; i < row.size(); ++i) {
        const Use& before = row[i - 1];
        const Use& after = row[i];
        constraints_.push_back(
            {after.transfer, before.transfer, before.head + before.busy - after.head});
      }
    }
  }

  void keep_order_at_places() {
    const std::size_t chunks = collective_.num_chunks();
    const auto each_move = [&](const auto& visit) {
      for (std::uint32_t i = 0; i < transfers_.size(); ++i) {
        const Transfer transfer = transfers_[i];
        const std::size_t src = topology_.link(transfer.links.front()).src.index() * chunks;
        const std::size_t dst = topology_.link(transfer.links.back()).dst.index() * chunks;
        for (const ChunkId chunk : transfer.chunks) {
          visit(src + chunk.index(), dst + chunk.index(), i);
        }
      }
    };
    const std::size_t places = topology_.num_npus() * chunks;
    const Csr<std::uint32_t> sent(places, [&](const auto& add) {
      each_move([&](std::size_t src, std::size_t, std::uint32_t i) { add(src, i); });
    });
    const Csr<std::uint32_t> arrived(places, [&](const auto& add) {
      each_move([&](std::size_t, std::size_t dst, std::uint32_t i) { add(dst, i); });
    });
    std::vector<std::uint32_t> arrivals;
    for (std::size_t place = 0; place < places; ++place) {
      arrivals.assign(arrived[place].begin(), arrived[place].end());
      std::stable_sort(arrivals.begin(), arrivals.end(), [&](std::uint32_t a, std::uint32_t b) {
        return end_of(a) < end_of(b);
      });
      keep_order_at_place(sent[place], arrivals);
    }
  }

  void keep_order_at_place(std::span<const std::uint32_t> sent,
                           std::span<const std::uint32_t> arrived) {
    for (std::size_t i = 0; i < arrived.size(); ++i) {
      const std::uint32_t arrival = arrived[i];
      for (const std::uint32_t transfer : sent) {
        if (end_of(arrival) <= start_of(transfer)) {
          constraints_.push_back({transfer, arrival, duration_[arrival]});
        } else if (end_of(arrival) >= end_of(transfer)) {
          end_after(arrival, transfer, {});
        }
      }
      if (i > 0 && (is_copy(arrival) || is_copy(arrived[i - 1]))) {
        const std::uint32_t before = arrived[i - 1];
        end_after(arrival, before, Ticks{end_of(arrival) > end_of(before) ? 1 : 0});
      }
    }
  }
  [[nodiscard]] bool is_copy(std::uint32_t transfer) const {
    return transfers_.ops()[transfer] == Op::kCopy;
  }

  const Topology& topology_;
  const Collective& collective_;
  LinkModel model_;
  const TransferBatch& transfers_;
  std::vector<Ticks> duration_;
  std::vector<Constraint> constraints_;
};

}  // namespace

Schedule replayed(const Topology& topology,
                  const Collective& collective,
                  LinkModel model,
                  const Schedule& schedule) {
  const TransferBatch transfers = all_transfers(schedule);
  return Replay(topology, collective, model, transfers).run();
}

}  // namespace tacos::replay
