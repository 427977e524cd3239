// SPDX-License-Identifier: MIT
// Over direct links a transfer is next on its link when the schedule comes to it, and everything
// that it needs has been made: one look at a clock for its link and one for each chunk decides it.
//
// A route reaches its later links after its start, so that the order on a link is not that of the
// schedule. There the plan is followed with a clock of its own: when it reaches the time at which a
// message was planned to be at a link, whatever comes to the link before it is known. A transfer
// waits for those before it on each of its links and for the data that it sends, and is made when
// all of them have been. Few are under way at a time: what starts within the latency of a route.
#include "replay/machine.h"

#include <algorithm>
#include <deque>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/event_queue.h"
#include "replay/reservations.h"

namespace tacos::replay {
namespace {

constexpr std::uint32_t kNone = ~std::uint32_t{0};
/// So many steps before it is needed a place is fetched from memory.
constexpr std::size_t kAhead = 12;

}  // namespace

class Machine::State {
 public:
  State(const Setting& planned, const Setting& actual, MachineOptions options)
      : planned_(planned),
        actual_(actual),
        options_(std::move(options)),
        clocks_(actual.topology, actual.chunks.count(), options_.link_model, options_.with_causes),
        costs_(2 * std::size_t{actual.topology.num_links()}),
        last_(actual.topology.num_links(), kNone) {}

  void add(const Transfer& transfer) {
    advance(transfer.start);
    // From the first route on, every transfer may have to wait for one.
    direct_ = direct_ && transfer.links.size() == 1;
    if (direct_) {
      add_direct(transfer);
    } else {
      add_route(transfer);
    }
    ++number_;
  }

  void expect(const Transfer& transfer) const {
    clocks_.prefetch(
        clocks_.place(planned_.topology.link(transfer.links.front()).src, transfer.chunks.front()));
  }

  Ticks finish() {
    advance(EventQueue<Event>::kNever - Ticks{1});
    while (!under_way_.empty()) {
      force_oldest();
    }
    return end_;
  }

  [[nodiscard]] const Clocks& clocks() const { return clocks_; }

 private:
  /// What chunks of some size, before and now, cost a link.
  struct DirectCost {
    Bytes planned_bytes{-1};
    Bytes bytes;
    Ticks planned_duration;
    Ticks duration;
    Ticks busy;
  };

  /// The plan's clock reaches an arrival, or the moment when a message gets to a link.
  struct Event {
    Ticks time;
    /// Of a direct transfer: the place that it arrives at, and when it really does.
    std::size_t place = 0;
    Ticks end = {};
    std::uint64_t number = 0;
    /// Of a route: its record, and which of its links; kNone: it arrives.
    std::uint32_t record = kNone;
    std::uint32_t link = kNone;
  };
  /// A record, or a later one in its place.
  struct Reference {
    std::uint32_t record = 0;
    std::uint64_t number = 0;
  };
  /// Somebody waits for a record: for its data, or to follow it on a link.
  struct Waiter {
    Reference who;
    /// Place in the waiter's route; kNone: for data.
    std::uint32_t link = kNone;
  };
  /// A transfer over a route, from when it is planned to start until it has been made and arrived.
  struct Record {
    Made made;
    Ticks planned_start;
    Ticks planned_end;
    Op op = Op::kCopy;
    std::vector<LinkId> links;
    std::vector<ChunkId> chunks;
    /// Links that the plan's clock has not reached, and records that are waited for.
    std::uint32_t links_ahead = 0;
    std::uint32_t waits = 0;
    bool issued = false;
    /// By the plan's clock.
    bool arrived = false;
    std::vector<Waiter> waiters;
  };

  [[nodiscard]] Ticks delay_of(std::uint64_t number, Ticks duration) const {
    return options_.delay ? options_.delay(number, duration) : Ticks{};
  }
  void take(const Transfer& planned, const Made& made) {
    end_ = std::max(end_, made.end);
    if (options_.take) {
      options_.take(planned, made);
    }
  }

  /// Chunks are equal to within a byte, so two sizes for each link are remembered.
  const DirectCost& cost_of(LinkId id, std::span<const ChunkId> chunks) {
    const Bytes before = planned_.chunks.bytes(chunks);
    const Bytes now = as_planned_ ? before : actual_.chunks.bytes(chunks);
    DirectCost& cost = costs_[2 * id.index() + (before.count & 1)];
    if (cost.planned_bytes != before || cost.bytes != now) {
      const LinkCost cost_now = link_cost(actual_.topology.link(id), now, options_.link_model);
      cost = {.planned_bytes = before,
              .bytes = now,
              .planned_duration =
                  link_cost(planned_.topology.link(id), before, LinkModel::kHold).arrival,
              .duration = cost_now.arrival,
              .busy = cost_now.busy};
    }
    return cost;
  }

  void add_direct(const Transfer& transfer) {
    const LinkId id = transfer.links[0];
    const Link& link = actual_.topology.link(id);
    const DirectCost& cost = cost_of(id, transfer.chunks);
    Made made{.number = number_};
    for (const ChunkId chunk : transfer.chunks) {
      clocks_.wait_for_data(clocks_.place(link.src, chunk), made);
    }
    clocks_.wait_for_link(id, {}, made);
    const Ticks longer = delay_of(number_, cost.duration);
    made.end = made.start + cost.duration + longer;
    clocks_.occupy_link(id, made.start, cost.busy + longer, number_);
    for (const ChunkId chunk : transfer.chunks) {
      events_.push(transfer.start,
                   {.time = transfer.start + cost.planned_duration,
                    .place = clocks_.place(link.dst, chunk),
                    .end = made.end,
                    .number = number_});
    }
    take(transfer, made);
  }

  void add_route(const Transfer& transfer) {
    const std::uint32_t id = new_record(transfer);
    Record& record = records_[id];
    under_way_.push_back({id, number_});
    const NodeId src = planned_.topology.link(transfer.links.front()).src;
    for (const ChunkId chunk : transfer.chunks) {
      const std::size_t place = clocks_.place(src, chunk);
      clocks_.wait_for_data(place, record.made);
      if (late_.empty()) {
        continue;
      }
      // What was planned to be there and has not been made yet.
      const auto [first, last] = late_.equal_range(place);
      for (auto late = first; late != last; ++late) {
        records_[late->second].waiters.push_back({.who = {id, number_}});
        ++record.waits;
      }
    }
    Ticks head = transfer.start;
    for (std::uint32_t i = 1; i < record.links.size(); ++i) {
      head += planned_.topology.link(record.links[i - 1]).latency;
      events_.push(transfer.start, {.time = head, .number = number_, .record = id, .link = i});
    }
    events_.push(transfer.start, {.time = record.planned_end, .number = number_, .record = id});
    reach_link(id, 0);
    force_stuck(transfer.start);
  }

  std::uint32_t new_record(const Transfer& transfer) {
    if (spare_.empty()) {
      spare_.push_back(static_cast<std::uint32_t>(records_.size()));
      records_.emplace_back();
    }
    const std::uint32_t id = spare_.back();
    spare_.pop_back();
    Record& record = records_[id];
    record.made = {.number = number_};
    record.planned_start = transfer.start;
    record.planned_end =
        transfer.start +
        route_time(planned_.topology, transfer.links, planned_.chunks.bytes(transfer.chunks));
    record.op = transfer.op;
    record.links.assign(transfer.links.begin(), transfer.links.end());
    record.chunks.assign(transfer.chunks.begin(), transfer.chunks.end());
    record.links_ahead = static_cast<std::uint32_t>(transfer.links.size());
    record.waits = 0;
    record.issued = false;
    record.arrived = false;
    record.waiters.clear();
    return id;
  }

  /// The plan's clock reaches the i-th link of a route: it comes after whoever was last there.
  void reach_link(std::uint32_t id, std::uint32_t i) {
    Record& record = records_[id];
    const LinkId link = record.links[i];
    const std::uint32_t before = std::exchange(last_[link.index()], id);
    if (before != kNone) {
      records_[before].waiters.push_back({.who = {id, record.made.number}, .link = i});
      ++record.waits;
    } else {
      clocks_.wait_for_link(link, head_of(record, i), record.made);
    }
    --record.links_ahead;
    issue_all(id);
  }

  /// When a message gets to a link of its route, from its start.
  [[nodiscard]] Ticks head_of(const Record& record, std::uint32_t i) const {
    Ticks head;
    for (std::uint32_t k = 0; k < i; ++k) {
      head += actual_.topology.link(record.links[k]).latency;
    }
    return head;
  }

  /// When a transfer that was made leaves a link.
  [[nodiscard]] Ticks left_at(const Record& record, LinkId link, Bytes bytes, Ticks longer) const {
    const auto i = std::find(record.links.begin(), record.links.end(), link);
    return record.made.start +
           head_of(record, static_cast<std::uint32_t>(i - record.links.begin())) +
           link_cost(actual_.topology.link(link), bytes, options_.link_model).busy + longer;
  }

  /// Makes the transfer, if it waits for nothing, and whatever has waited for it.
  void issue_all(std::uint32_t id) {
    stack_.push_back(id);
    while (!stack_.empty()) {
      const std::uint32_t next = stack_.back();
      stack_.pop_back();
      const Record& record = records_[next];
      if (!record.issued && record.waits == 0 && record.links_ahead == 0) {
        issue(next);
      }
    }
  }

  void issue(std::uint32_t id) {
    Record& record = records_[id];
    const Bytes bytes = actual_.chunks.bytes(record.chunks);
    const Ticks duration = as_planned_ ? record.planned_end - record.planned_start
                                       : route_time(actual_.topology, record.links, bytes);
    const Ticks longer = delay_of(record.made.number, duration);
    if (!reservations_.empty()) {
      reserve(record, bytes, longer);
    }
    record.made.end = record.made.start + duration + longer;
    record.issued = true;
    clocks_.occupy_links(record.links, bytes, longer, record.made);
    for (const LinkId link : record.links) {
      if (last_[link.index()] == id) {
        last_[link.index()] = kNone;
      }
    }
    take({.start = record.planned_start,
          .op = record.op,
          .links = record.links,
          .chunks = record.chunks},
         record.made);
    for (const Waiter& waiter : record.waiters) {
      Record& other = records_[waiter.who.record];
      if (other.made.number != waiter.who.number || other.issued) {
        // It was forced.
        continue;
      }
      if (waiter.link != kNone) {
        // Not as the link's clock says: one that comes later may have been forced.
        const LinkId link = other.links[waiter.link];
        other.made.wait(left_at(record, link, bytes, longer) - head_of(other, waiter.link),
                        Cause::kLink,
                        record.made.number);
      } else {
        other.made.wait(record.made.end, Cause::kData, record.made.number);
      }
      --other.waits;
      stack_.push_back(waiter.who.record);
    }
    record.waiters.clear();
    if (record.arrived) {
      settle(id);
    }
  }

  void reserve(Record& record, Bytes bytes, Ticks longer) {
    const auto for_each_link = [&](const auto& visit) {
      Ticks head;
      for (const LinkId id : record.links) {
        const Link& link = actual_.topology.link(id);
        visit(id, head, link_cost(link, bytes, options_.link_model).busy + longer);
        head += link.latency;
      }
    };
    for (Ticks before{-1}; before != record.made.start;) {
      before = record.made.start;
      for_each_link([&](LinkId link, Ticks head, Ticks busy) {
        reservations_.wait(link, head, busy, record.made);
      });
    }
    for_each_link([&](LinkId link, Ticks head, Ticks busy) {
      reservations_.add(link, record.made.start + head, busy, record.made.number);
    });
  }

  /// What the record brings is there for all who look from now on.
  void settle(std::uint32_t id) {
    const Record& record = records_[id];
    for_each_place(record, [&](std::size_t place) {
      clocks_.arrive(place, record.made.end, record.made.number);
      if (late_.empty()) {
        return;
      }
      const auto [first, last] = late_.equal_range(place);
      const auto mine =
          std::find_if(first, last, [&](const auto& one) { return one.second == id; });
      if (mine != last) {
        late_.erase(mine);
      }
    });
    spare_.push_back(id);
  }

  template <class Visit>
  void for_each_place(const Record& record, const Visit& visit) const {
    const NodeId dst = planned_.topology.link(record.links.back()).dst;
    for (const ChunkId chunk : record.chunks) {
      visit(clocks_.place(dst, chunk));
    }
  }

  /// Moves the plan's clock.
  void advance(Ticks now) {
    while (events_.next_time() <= now) {
      events_.take_next(happening_);
      // A message that was planned to arrive is there for whoever starts in the same instant.
      for (std::size_t i = 0; i < happening_.size(); ++i) {
        const Event& event = happening_[i];
        clocks_.prefetch(happening_[std::min(i + kAhead, happening_.size() - 1)].place);
        if (event.record == kNone) {
          clocks_.arrive(event.place, event.end, event.number);
        } else if (event.link == kNone) {
          reach_end(event.record);
        }
      }
      if (direct_) {
        continue;
      }
      std::sort(happening_.begin(), happening_.end(), [](const Event& a, const Event& b) {
        return a.number < b.number;
      });
      for (const Event& event : happening_) {
        if (event.link != kNone) {
          reach_link(event.record, event.link);
        }
      }
    }
  }

  void reach_end(std::uint32_t id) {
    Record& record = records_[id];
    record.arrived = true;
    if (record.issued) {
      settle(id);
    } else {
      for_each_place(record, [&](std::size_t place) { late_.emplace(place, id); });
    }
  }

  /// Long after it was planned to end, a transfer can only wait in a circle.
  void force_stuck(Ticks now) {
    constexpr std::int64_t kPatience = 8;
    while (!under_way_.empty()) {
      const Reference oldest = under_way_.front();
      const Record& record = records_[oldest.record];
      const Ticks duration = record.planned_end - record.planned_start;
      if (waits(oldest) && now < record.planned_end + duration * kPatience) {
        return;
      }
      force_oldest();
    }
  }
  [[nodiscard]] bool waits(const Reference& reference) const {
    const Record& record = records_[reference.record];
    return record.made.number == reference.number && !record.issued;
  }
  /// Whatever it sends is there: that was planned to start sooner, and has been made.
  void force_oldest() {
    const Reference oldest = under_way_.front();
    under_way_.pop_front();
    if (!waits(oldest)) {
      return;
    }
    Record& record = records_[oldest.record];
    record.made.wait(record.planned_start, Cause::kNothing, 0);
    record.waits = 0;
    for (const LinkId link : record.links) {
      reservations_.open(link);
    }
    issue_all(oldest.record);
  }

  Setting planned_;
  Setting actual_;
  MachineOptions options_;
  /// Whether times are those that were planned with.
  bool as_planned_ = &planned_.topology == &actual_.topology && &planned_.chunks == &actual_.chunks;
  Clocks clocks_;
  std::uint64_t number_ = 0;
  Ticks end_;
  /// Whether there was no route so far.
  bool direct_ = true;
  std::vector<DirectCost> costs_;
  EventQueue<Event> events_;
  std::vector<Event> happening_;
  // Of routes:
  std::deque<Record> records_;
  std::vector<std::uint32_t> spare_;
  /// In planned order.
  std::deque<Reference> under_way_;
  /// By link: the record that the plan last saw there, if it has not been made.
  std::vector<std::uint32_t> last_;
  /// By place: records that were planned to be there and have not been made.
  std::unordered_multimap<std::size_t, std::uint32_t> late_;
  std::vector<std::uint32_t> stack_;
  Reservations reservations_;
};

Machine::Machine(const Setting& planned, const Setting& actual, MachineOptions options)
    : state_(std::make_unique<State>(planned, actual, std::move(options))) {}

Machine::~Machine() = default;

void Machine::add(const Transfer& planned) {
  state_->add(planned);
}

void Machine::expect(const Transfer& planned) const {
  state_->expect(planned);
}

Ticks Machine::finish() {
  return state_->finish();
}

const Clocks& Machine::clocks() const {
  return state_->clocks();
}

}  // namespace tacos::replay
