// SPDX-License-Identifier: MIT
// O(entries log entries).
#include "synthesis/trees/timing/periodic.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "tacos/chunk_table.h"

#include "schedule/periodic/timetable.h"

namespace tacos::trees {
namespace {

class TimetableWriter {
 public:
  TimetableWriter(const PipelineTask& task, const Draft& draft)
      : task_(task),
        draft_(draft),
        chunks_(task.size, draft.chunks),
        costs_(task.topology, task.fabric, chunks_.max_bytes(), task.model) {
    const std::uint32_t trees = draft.packing.num_trees();
    timetable_.period = {draft.plan->period};
    timetable_.rounds = draft.chunks / trees;
    timetable_.stride = trees / task.job.unit();
  }

  Schedule run() {
    timetable_.entries.reserve(draft_.plan->up.size() + draft_.plan->down.size());
    add(draft_.packing.up, draft_.plan->up, Op::kReduce);
    add(draft_.packing.down, draft_.plan->down, Op::kCopy);
    std::sort(timetable_.entries.begin(),
              timetable_.entries.end(),
              [](const TimetableEntry& a, const TimetableEntry& b) {
                return std::pair(a.place, a.link) < std::pair(b.place, b.link);
              });
    return make_periodic_schedule(std::move(timetable_), end_);
  }

 private:
  void add(const std::vector<std::uint32_t>& hops, const std::vector<std::int64_t>& starts, Op op) {
    const std::uint32_t nodes = draft_.packing.num_nodes;
    for (std::uint32_t cell = 0; cell < hops.size(); ++cell) {
      if (hops[cell] == kNone) {
        continue;
      }
      const std::uint32_t link = task_.fabric.links(hops[cell]).front().value();
      const std::uint32_t chunk = first_chunk(cell / nodes);
      const std::int64_t start = starts[cell];
      timetable_.entries.push_back({.place = {start % timetable_.period.ps},
                                    .lap = static_cast<std::uint32_t>(start / timetable_.period.ps),
                                    .chunk = chunk,
                                    .link = link,
                                    .op = op});
      // The last round, in which the chunk may be a byte smaller than the largest.
      const Ticks last{start + (timetable_.rounds - std::int64_t{1}) * timetable_.period.ps};
      if (last + Ticks{costs_.arrival(hops[cell])} > end_) {
        const ChunkId moved(chunk + (timetable_.rounds - 1) * timetable_.stride);
        end_ = std::max(
            end_,
            last +
                route_time(task_.topology, task_.fabric.links(hops[cell]), chunks_.bytes(moved)));
      }
    }
  }

  /// Chunks are numbered by owner, and trees belong to owners in turn.
  [[nodiscard]] std::uint32_t first_chunk(std::uint32_t tree) const {
    const std::uint32_t owners = task_.job.unit();
    return tree % owners * (draft_.chunks / owners) + tree / owners;
  }

  const PipelineTask& task_;
  const Draft& draft_;
  ChunkTable chunks_;
  HopCosts costs_;
  Timetable timetable_;
  Ticks end_;
};

}  // namespace

Schedule periodic(const PipelineTask& task, const Draft& draft) {
  return TimetableWriter(task, draft).run();
}

}  // namespace tacos::trees
