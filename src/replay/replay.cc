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
#include "replay/replay.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <tuple>
#include <vector>

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
  LinkId link;
  /// When its head gets there, from its start.
  Ticks head;
  Ticks busy;
  std::uint32_t transfer = 0;
};

/// A transfer that reads or changes a place.
struct Visit {
  std::size_t place = 0;
  std::uint32_t transfer = 0;
  bool arrives = false;
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
    std::sort(constraints_.begin(),
              constraints_.end(),
              [](const Constraint& a, const Constraint& b) { return a.to < b.to; });
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

  void keep_order_on_links() {
    std::vector<Use> uses;
    for (std::uint32_t i = 0; i < transfers_.size(); ++i) {
      const Bytes bytes = collective_.chunks().bytes(transfers_[i].chunks);
      Ticks head;
      for (const LinkId id : transfers_[i].links) {
        const Link& link = topology_.link(id);
        uses.push_back({id, head, link_cost(link, bytes, model_).busy, i});
        head += link.latency;
      }
    }
    std::sort(uses.begin(), uses.end(), [&](const Use& a, const Use& b) {
      return std::tuple(a.link, start_of(a.transfer) + a.head, a.transfer) <
             std::tuple(b.link, start_of(b.transfer) + b.head, b.transfer);
    });
    for (std::size_t i = 1; i < uses.size(); ++i) {
      const Use& before = uses[i - 1];
      const Use& after = uses[i];
      if (before.link == after.link) {
        constraints_.push_back(
            {after.transfer, before.transfer, before.head + before.busy - after.head});
      }
    }
  }

  void keep_order_at_places() {
    std::vector<Visit> visits;
    const std::size_t chunks = collective_.num_chunks();
    for (std::uint32_t i = 0; i < transfers_.size(); ++i) {
      const Transfer transfer = transfers_[i];
      const std::size_t src = topology_.link(transfer.links.front()).src.index() * chunks;
      const std::size_t dst = topology_.link(transfer.links.back()).dst.index() * chunks;
      for (const ChunkId chunk : transfer.chunks) {
        visits.push_back({src + chunk.index(), i, false});
        visits.push_back({dst + chunk.index(), i, true});
      }
    }
    std::sort(visits.begin(), visits.end(), [&](const Visit& a, const Visit& b) {
      return std::tuple(a.place, a.arrives, a.arrives ? end_of(a.transfer) : Ticks{}, a.transfer) <
             std::tuple(b.place, b.arrives, b.arrives ? end_of(b.transfer) : Ticks{}, b.transfer);
    });
    for (auto first = visits.begin(); first != visits.end();) {
      const auto last = std::find_if(
          first, visits.end(), [&](const Visit& visit) { return visit.place != first->place; });
      const auto arrivals =
          std::find_if(first, last, [](const Visit& visit) { return visit.arrives; });
      keep_order_at_place({first, arrivals}, {arrivals, last});
      first = last;
    }
  }

  void keep_order_at_place(std::span<const Visit> sent, std::span<const Visit> arrived) {
    for (std::size_t i = 0; i < arrived.size(); ++i) {
      const std::uint32_t arrival = arrived[i].transfer;
      for (const Visit& visit : sent) {
        if (end_of(arrival) <= start_of(visit.transfer)) {
          constraints_.push_back({visit.transfer, arrival, duration_[arrival]});
        } else if (end_of(arrival) >= end_of(visit.transfer)) {
          end_after(arrival, visit.transfer, {});
        }
      }
      if (i > 0 && (is_copy(arrival) || is_copy(arrived[i - 1].transfer))) {
        const std::uint32_t before = arrived[i - 1].transfer;
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
