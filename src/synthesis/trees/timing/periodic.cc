// SPDX-License-Identifier: MIT
// O(entries log entries).
#include "synthesis/trees/timing/periodic.h"

#include <algorithm>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "tacos/chunk_table.h"

#include "schedule/periodic/timetable.h"

namespace tacos::trees {
namespace {

class TimetableWriter {
 public:
  TimetableWriter(const PipelineTask& task, const Draft& draft)
      : task_(task), draft_(draft), chunks_(task.size, draft.chunks) {
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
                return std::tuple(a.place, a.link, a.chunk) < std::tuple(b.place, b.link, b.chunk);
              });
    const Ticks end = last_end();
    return make_periodic_schedule(std::move(timetable_), end);
  }

 private:
  void add(const std::vector<std::uint32_t>& hops, const std::vector<std::int64_t>& starts, Op op) {
    const std::uint32_t nodes = draft_.packing.num_nodes;
    for (std::uint32_t cell = 0; cell < hops.size(); ++cell) {
      if (hops[cell] == kNone) {
        continue;
      }
      const std::int64_t start = starts[cell];
      timetable_.entries.push_back({.place = {start % timetable_.period.ps},
                                    .lap = static_cast<std::uint32_t>(start / timetable_.period.ps),
                                    .chunk = first_chunk(cell / nodes),
                                    .link = task_.fabric.links(hops[cell]).front().value(),
                                    .op = op});
    }
  }

  /// When the last round ends, in which chunks may be a byte smaller than the largest, and of those
  /// that share a transfer only the latest are left.
  [[nodiscard]] Ticks last_end() const {
    const std::vector<TimetableEntry>& entries = timetable_.entries;
    Ticks last;
    for (std::size_t i = 0; i < entries.size();) {
      const TimetableEntry& first = entries[i];
      const std::size_t begin = i;
      std::uint32_t lap = first.lap;
      while (++i < entries.size() && shares(first, entries[i])) {
        lap = std::max(lap, entries[i].lap);
      }
      const Ticks start =
          first.place + timetable_.period * (std::int64_t{lap} + timetable_.rounds - 1);
      const LinkId link(first.link);
      // It keeps its link busy for a period at most.
      if (start + timetable_.period + task_.topology.link(link).latency > last) {
        const Bytes bytes = bytes_of(std::span(entries).subspan(begin, i - begin), lap);
        last = std::max(last, start + route_time(task_.topology, {&link, 1}, bytes));
      }
    }
    return last;
  }

  /// What entries with this lap move in the last round.
  [[nodiscard]] Bytes bytes_of(std::span<const TimetableEntry> entries, std::uint32_t lap) const {
    Bytes bytes;
    for (const TimetableEntry& entry : entries) {
      const ChunkId moved(entry.chunk + (timetable_.rounds - 1) * timetable_.stride);
      bytes.count += entry.lap == lap ? chunks_.bytes(moved).count : 0;
    }
    return bytes;
  }

  /// Chunks are numbered by owner, and trees belong to owners in turn.
  [[nodiscard]] std::uint32_t first_chunk(std::uint32_t tree) const {
    const std::uint32_t owners = task_.job.unit();
    return tree % owners * (draft_.chunks / owners) + tree / owners;
  }

  const PipelineTask& task_;
  const Draft& draft_;
  ChunkTable chunks_;
  Timetable timetable_;
};

}  // namespace

Schedule periodic(const PipelineTask& task, const Draft& draft) {
  return TimetableWriter(task, draft).run();
}

}  // namespace tacos::trees
