// SPDX-License-Identifier: MIT
#include "repair/resume.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "tacos/synthesize.h"

#include "repair/reroute.h"
#include "replay/message_scheduler.h"
#include "replay/retime.h"
#include "topology/unreachable.h"

namespace tacos::repairing {
namespace {

/// A transfer and its place in an order.
struct Keyed {
  Ticks key;
  std::uint32_t transfer = 0;

  friend auto operator<=>(const Keyed&, const Keyed&) = default;
};

/// Transfers in the order in which they are to be made.
struct Order {
  TransferBatch transfers;
  /// None starts before; those under way are where they were.
  std::vector<Ticks> earliest;
  std::uint64_t kept = 0;
  std::uint64_t added = 0;
};

class Resumer {
 public:
  Resumer(const Bundle& before, const Topology& now, const Snapshot& snapshot, Ticks at)
      : before_(before), now_(now), snapshot_(snapshot), at_(at), begins_(at) {
    for (const Ticks start : snapshot.under_way.starts()) {
      begins_ = std::min(begins_, start);
    }
  }

  Result<ResumedSchedule> run(Ticks good_enough) {
    Result<Collective> rest = collective(snapshot_.chunks);
    Result<Collective> soon = collective(with_under_way());
    if (!rest || !soon) {
      return rest ? soon.error() : rest.error();
    }
    std::optional<ResumedSchedule> best;
    if (std::optional<Order> order = left_over(*rest)) {
      best = timed(*rest, *order, Resumption::kContinued, before_.engine);
      if (best->end() <= good_enough) {
        return *std::move(best);
      }
    }
    Result<Synthesis> made = synthesize(
        now_,
        custom_problem(*std::move(soon)),
        {.link_model = before_.link_model, .seed = before_.seed, .effort = kLeastEffort});
    if (!made) {
      return best ? Result<ResumedSchedule>(*std::move(best)) : made.error();
    }
    if (made->status == SynthesisStatus::kInfeasible) {
      return unreachable_error(now_, *made->unreachable);
    }
    ResumedSchedule planned =
        timed(*rest, planned_order(*made->schedule), Resumption::kReplanned, made->engine);
    const bool continues = best && best->end() <= planned.end();
    return continues ? *std::move(best) : std::move(planned);
  }

 private:
  [[nodiscard]] Result<Collective> collective(std::vector<CustomChunk> chunks) const {
    return Collective::custom(fmt::format("rest of {}", before_.collective.name()),
                              std::move(chunks));
  }

  /// Copies that are under way have arrived, for those who plan.
  [[nodiscard]] std::vector<CustomChunk> with_under_way() const {
    std::vector<CustomChunk> chunks = snapshot_.chunks;
    for (std::size_t i = 0; i < snapshot_.under_way.size(); ++i) {
      const Transfer transfer = snapshot_.under_way[i];
      const NodeId dst = now_.link(transfer.links.back()).dst;
      for (const ChunkId chunk : transfer.chunks) {
        std::vector<NodeId>& sources = chunks[chunk.index()].sources;
        if (std::find(sources.begin(), sources.end(), dst) == sources.end()) {
          sources.push_back(dst);
        }
      }
    }
    return chunks;
  }

  void add(const Transfer& transfer, Ticks earliest, Order& order) const {
    order.transfers.append(transfer);
    order.earliest.push_back(earliest - begins_);
  }
  [[nodiscard]] Order under_way() const {
    Order order;
    for (std::size_t i = 0; i < snapshot_.under_way.size(); ++i) {
      add(snapshot_.under_way[i], snapshot_.under_way[i].start, order);
    }
    order.kept = snapshot_.under_way.size();
    return order;
  }

  [[nodiscard]] Order planned_order(const Schedule& schedule) const {
    Order order = under_way();
    const TransferBatch planned = replay::all_transfers(schedule);
    for (std::size_t i = 0; i < planned.size(); ++i) {
      add(planned[i], at_, order);
    }
    order.added = planned.size();
    return order;
  }

  [[nodiscard]] ResumedSchedule timed(const Collective& rest,
                                      const Order& order,
                                      Resumption resumption,
                                      const std::string& engine) const {
    Schedule schedule =
        replay::retime(now_, rest, before_.link_model, order.transfers, order.earliest);
    if (std::optional<Schedule> listed = this->listed(rest, order, schedule.collective_time())) {
      schedule = *std::move(listed);
    }
    return {.repair = {.bundle = {.topology = now_,
                                  .collective = rest,
                                  .link_model = before_.link_model,
                                  .schedule = std::move(schedule),
                                  .engine = engine,
                                  .seed = before_.seed},
                       .kept_transfers = order.kept,
                       .new_transfers = order.added},
            .begins = begins_,
            .resumption = resumption};
  }

  /// Links that are free take what can start first, if that is faster than `limit`.
  [[nodiscard]] std::optional<Schedule> listed(const Collective& rest,
                                               const Order& order,
                                               Ticks limit) const {
    const Order begun = under_way();
    // Over links that have become slow they may be in each other's way.
    TransferBatch messages = replay::all_transfers(
        replay::retime(now_, rest, before_.link_model, begun.transfers, begun.earliest));
    messages.append(order.transfers, messages.size(), order.transfers.size());
    return replay::schedule_messages(now_,
                                     rest,
                                     before_.link_model,
                                     messages,
                                     limit,
                                     {.under_way = begun.transfers.size(), .at = at_ - begins_});
  }

  /// What is left as copies: down from who has a chunk or where its sum is made, and against the
  /// links up to those who have parts of it.
  struct Phases {
    std::vector<CustomChunk> down;
    std::vector<CustomChunk> up;
    /// When the first begins for a chunk, and the second ends.
    std::vector<Ticks> since;
  };
  /// Nothing where a sum is made nowhere.
  [[nodiscard]] std::optional<Phases> phases() const {
    Phases phases{.down = with_under_way(), .up = snapshot_.chunks, .since = {}};
    for (std::size_t i = 0; i < phases.up.size(); ++i) {
      CustomChunk& up = phases.up[i];
      up.destinations = up.sources;
      const std::optional<Hub>& hub = snapshot_.hubs[i];
      if (up.reduces) {
        if (!hub) {
          return std::nullopt;
        }
        up.sources = {hub->npu};
        phases.down[i].sources = {hub->npu};
      }
      phases.since.push_back(hub ? hub->since : at_);
      up.reduces = false;
      phases.down[i].reduces = false;
    }
    return phases;
  }

  /// What was planned and not begun, mended where it has to be; nothing where it cannot be.
  [[nodiscard]] std::optional<Order> left_over(const Collective& rest) const {
    std::optional<Phases> phases = this->phases();
    if (!phases) {
      return std::nullopt;
    }
    const std::optional<Rerouted> copies =
        mended(phases->down, snapshot_.copies, phases->since, now_);
    if (!copies || !rest.reduces()) {
      return copies ? std::optional(merged(rest, *copies, {}, {})) : std::nullopt;
    }
    Ticks last;
    for (std::size_t i = 0; i < snapshot_.sums.size(); ++i) {
      const Transfer sum = snapshot_.sums[i];
      last = std::max(
          last,
          sum.start + route_time(before_.topology, sum.links, rest.chunks().bytes(sum.chunks)));
    }
    for (Ticks& time : phases->since) {
      time = std::max(Ticks{}, last - time);
    }
    const std::optional<Rerouted> sums =
        mended(phases->up,
               replay::mirrored(before_.topology, rest, snapshot_.sums),
               phases->since,
               now_.reversed());
    return sums ? std::optional(merged(rest, *copies, *sums, last)) : std::nullopt;
  }

  [[nodiscard]] std::optional<Rerouted> mended(const std::vector<CustomChunk>& chunks,
                                               const TransferBatch& transfers,
                                               const std::vector<Ticks>& since,
                                               const Topology& topology) const {
    const Result<Collective> asked = collective(chunks);
    if (!asked) {
      return std::nullopt;
    }
    Copies copies = index_copies(topology, *asked, transfers, Reading::kForwards);
    copies.since = since;
    copies.is_part = true;
    return reroute(topology, *asked, before_.link_model, copies);
  }

  /// Both by when they were planned, or would have been; `sums` are mirrored at `last`.
  [[nodiscard]] Order merged(const Collective& rest,
                             const Rerouted& copies,
                             const Rerouted& sums,
                             Ticks last) const {
    Order order = under_way();
    order.kept += copies.kept + sums.kept;
    order.added += copies.added + sums.added;
    const auto num_sums = static_cast<std::uint32_t>(sums.transfers.size());
    std::vector<Keyed> keys;
    keys.reserve(num_sums + copies.transfers.size());
    // Sums are in order by when they end: chunks that share a transfer take longer than one alone.
    Ticks shortest = num_sums > 0 ? kMaxTime : Ticks{};
    for (std::uint32_t i = 0; i < num_sums; ++i) {
      const Transfer sum = sums.transfers[i];
      shortest = std::min(shortest, route_time(now_, sum.links, rest.chunks().bytes(sum.chunks)));
    }
    for (std::uint32_t i = 0; i < num_sums; ++i) {
      keys.push_back({.key = last - sums.transfers[i].start - shortest, .transfer = i});
    }
    for (std::uint32_t i = 0; i < copies.transfers.size(); ++i) {
      keys.push_back({.key = copies.transfers[i].start, .transfer = num_sums + i});
    }
    std::sort(keys.begin(), keys.end());
    std::vector<LinkId> links;
    for (const Keyed& next : keys) {
      if (next.transfer >= num_sums) {
        add(copies.transfers[next.transfer - num_sums], at_, order);
        continue;
      }
      Transfer sum = sums.transfers[next.transfer];
      links.assign(sum.links.rbegin(), sum.links.rend());
      sum.op = Op::kReduce;
      sum.links = links;
      add(sum, at_, order);
    }
    return order;
  }

  const Bundle& before_;
  const Topology& now_;
  const Snapshot& snapshot_;
  Ticks at_;
  /// The time that is zero in the result.
  Ticks begins_;
};

}  // namespace

Result<ResumedSchedule> resume(const Bundle& before,
                               const Topology& now,
                               const Snapshot& snapshot,
                               Ticks at,
                               Ticks good_enough) {
  return Resumer(before, now, snapshot, at).run(good_enough);
}

}  // namespace tacos::repairing
