// SPDX-License-Identifier: MIT
// Rounds in which all exchange their sums are shortest for small buffers, a Reduce-Scatter and an
// All-Gather for large ones. Between them: a Reduce-Scatter along the first coordinates, as within
// boxes; then rounds along the others, of what everybody has the sum of by then; then an All-Gather
// back along the first. Every such split of the coordinates is tried.
#include "synthesis/exchange/all_reduce.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "synthesis/common/deal.h"
#include "synthesis/common/settling.h"
#include "synthesis/exchange/draft.h"
#include "synthesis/exchange/sums.h"

namespace tacos::exchange {
namespace {

class AllReduce {
 public:
  AllReduce(const Topology& topology,
            const Problem& problem,
            const EngineOptions& options,
            std::int64_t limit)
      : topology_(topology),
        problem_(problem),
        options_(options),
        limit_(limit),
        setting_(topology, problem.participants, problem.size),
        twins_(twin_links(topology)) {}

  std::optional<Candidate> run() {
    for (const Layout& layout : setting_.layouts) {
      bool possible = false;
      for (std::size_t axes = 0; axes < layout.group.num_digits(); ++axes) {
        possible = try_layout(layout, axes) || possible;
      }
      if (possible) {
        break;
      }
    }
    try_phases();
    return std::move(best_);
  }

 private:
  /// The buffer in so many parts.
  [[nodiscard]] Result<Collective> in_parts(std::uint32_t parts, DraftTask& task) const {
    const std::int64_t each = (problem_.chunks.value_or(1) + parts - 1) / parts;
    Result<Collective> collective = decided(problem_, each * parts);
    if (collective) {
      // The whole is known to the byte, as it must be where routes are of unequal links.
      task.part = parts == 1 ? problem_.size : Bytes{collective->chunks().max_bytes().count * each};
      task.parts.chunks = each;
      task.link_model = options_.link_model;
      task.seed = options_.seed;
    }
    return collective;
  }

  /// With sums from coordinate `axes` on. Whether there are any.
  bool try_layout(const Layout& layout, std::size_t axes) {
    const std::uint32_t owners = layout.num_within(axes);
    std::vector<std::uint32_t> part_of(layout.participant.size());
    for (std::uint32_t element = 0; element < part_of.size(); ++element) {
      part_of[layout.participant[element]] = element % owners;
    }
    DraftTask task;
    const Result<Collective> collective = in_parts(owners, task);
    if (!collective) {
      return false;
    }
    task.parts.of = part_of;
    const Costs costs(setting_.network, task.part, 1, options_.link_model);
    const auto sums = find_sums(setting_.hops, layout, costs, axes, limit_);
    if (!sums) {
      return false;
    }
    Draft all{.transfers = transfers_of(topology_, *collective, setting_.hops, *sums, task.parts),
              .end = sums->end};
    if (axes > 0 && !surround(layout, axes, *collective, task, all)) {
      return true;
    }
    keep(*collective, all, Form::kExchanged);
    return true;
  }

  /// With a Reduce-Scatter before it and an All-Gather after it.
  bool surround(const Layout& layout,
                std::size_t axes,
                const Collective& collective,
                DraftTask task,
                Draft& all) {
    task.limit = (limit_ - all.end) / 2;
    // What is exchanged both ways cannot be given other times.
    const bool possible = !twins_.empty() && setting_.hops.are_even();
    const auto after =
        possible ? draft_plan_along(setting_, layout, axes, task) : std::optional<Draft>();
    if (!after) {
      return false;
    }
    Draft before = *after;
    turn(topology_, collective, Op::kReduce, twins_, before);
    append(std::move(before), all, *after);
    return true;
  }
  /// `before`, then `all`, then `after`, each when the links are free.
  void append(Draft before, Draft& all, const Draft& after) const {
    const std::int64_t settling = settling_time(topology_, options_.link_model).ps;
    std::int64_t end = before.end + settling;
    if (!all.transfers.empty()) {
      append_later(all.transfers, {end}, before.transfers);
      end += all.end + settling;
    }
    append_later(after.transfers, {end}, before.transfers);
    all = {.transfers = std::move(before.transfers),
           .end = end + after.end,
           .in_order = before.in_order && after.in_order};
  }

  /// A part for each participant.
  void try_phases() {
    std::vector<std::uint32_t> part_of(problem_.participants.size());
    std::iota(part_of.begin(), part_of.end(), 0U);
    DraftTask task;
    const Result<Collective> collective =
        in_parts(static_cast<std::uint32_t>(part_of.size()), task);
    if (!collective) {
      return;
    }
    task.parts.of = part_of;
    const bool even = setting_.hops.are_even();
    task.limit = twins_.empty() || !even ? limit_ : limit_ / 2;
    const std::optional<Draft> after = draft_plan(setting_, task);
    if (!after) {
      return;
    }
    std::optional<Draft> before = after;
    if (twins_.empty()) {
      const Setting reversed(topology_.reversed(), problem_.participants, problem_.size);
      task.limit = even ? limit_ - after->end : limit_;
      before = draft_plan(reversed, task);
    }
    if (!before) {
      return;
    }
    turn(topology_, *collective, Op::kReduce, twins_, *before);
    Draft all;
    append(*std::move(before), all, *after);
    keep(*collective, all, Form::kTurned);
  }

  void keep(const Collective& collective, const Draft& draft, Form form) {
    std::optional<Schedule> schedule =
        schedule_of(topology_, collective, options_.link_model, draft, form);
    if (schedule && schedule->collective_time().ps < limit_) {
      limit_ = schedule->collective_time().ps;
      best_ = Candidate{.collective = collective, .schedule = *std::move(schedule)};
    }
  }

  const Topology& topology_;
  const Problem& problem_;
  const EngineOptions& options_;
  std::int64_t limit_;
  Setting setting_;
  std::vector<LinkId> twins_;
  std::optional<Candidate> best_;
};

}  // namespace

std::optional<Candidate> all_reduce(const Topology& topology,
                                    const Problem& problem,
                                    const EngineOptions& options,
                                    std::int64_t limit) {
  return AllReduce(topology, problem, options, limit).run();
}

}  // namespace tacos::exchange
