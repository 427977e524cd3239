// SPDX-License-Identifier: MIT
// What must hold for every log, whatever made it.
#include <algorithm>
#include <cstddef>
#include <limits>
#include <span>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "base/numbers/rng.h"
#include "schedule/builder.h"
#include "schedule/logs/log_lists.h"
#include "schedule/logs/log_source.h"
#include "schedule/source.h"

namespace tacos {
namespace {

/// (start, link, chunk)
using Listed = std::tuple<std::int64_t, std::uint32_t, std::uint32_t>;

std::vector<Listed> list(const Schedule& schedule) {
  std::vector<Listed> listed;
  TransferBatch batch;
  const auto cursor = schedule.cursor();
  while (cursor->next(batch) && !batch.empty()) {
    for (std::size_t i = 0; i < batch.size(); ++i) {
      listed.emplace_back(
          batch.starts()[i].ps, batch.links()[i].value(), batch.chunks()[i].value());
    }
  }
  return listed;
}

/// A log of random windows, and what it must read as. Ids are wide when there are many chunks.
struct Made {
  SharedLog log;
  std::vector<Listed> transfers;
};

/// A few NPUs with many links, of which some have failed.
InLinks random_links(Rng& rng, bool in_step) {
  const std::uint32_t npus = 1 + rng.below(5);
  const std::uint32_t links = 1 + rng.below(40);
  InLinks in{.first = {0}, .links = {}, .num_ids = links + rng.below(3)};
  for (std::uint32_t npu = 1; npu < npus; ++npu) {
    in.first.push_back(in.first.back() + rng.below(links - in.first.back() + 1));
  }
  in.first.push_back(links);
  for (std::uint32_t link = 0; link < in.num_ids; ++link) {
    in.links.emplace_back(link);
  }
  for (std::uint32_t i = in.num_ids; i-- > 1;) {
    std::swap(in.links[i], in.links[rng.below(i + 1)]);
  }
  in.links.resize(links);
  const std::uint32_t slowest = rng.below(4) == 0 ? 300 : 5;
  for (std::uint32_t link = 0; link < links && !in_step; ++link) {
    in.times.push_back({.period = 1 + rng.below(5), .delay = 1 + rng.below(slowest)});
  }
  return in;
}

/// What a link does: when each transfer starts, in its own time.
std::vector<LogTime> random_starts(Rng& rng, const LinkTimes& times, LogTime until) {
  std::vector<LogTime> starts;
  LogTime free = 0;
  const std::uint32_t pause_in = 1 + rng.below(9);
  for (;;) {
    const LogTime start = free + (rng.below(pause_in) == 0 ? rng.below(12) : 0);
    if (start + times.delay > until) {
      return starts;
    }
    starts.push_back(start);
    free = start + times.period;
  }
}

/// In step every link that sends in a window begins with it and does not pause.
std::vector<LogTime> random_steps(Rng& rng, std::span<const LogTime> ends) {
  std::vector<LogTime> starts;
  LogTime begin = 0;
  const std::uint32_t one_in = 1 + rng.below(3) * 10;
  for (const LogTime end : ends) {
    const auto most = static_cast<std::uint32_t>(end - begin);
    const std::uint32_t count = rng.below(one_in) == 0 ? rng.below(most + 1) : 0;
    for (std::uint32_t i = 0; i < count; ++i) {
      starts.push_back(begin + i);
    }
    begin = end;
  }
  return starts;
}

/// (arrival, position, start) of everything that comes to some NPU.
using Arrival = std::tuple<LogTime, std::uint32_t, LogTime>;

/// Cuts what comes to all NPUs into windows that end at these times.
void add_windows(WindowLog& log, std::span<const Arrival> sorted, std::span<const LogTime> ends) {
  const InLinks& in = log.in_links();
  std::vector<LogTime> free(in.num_links(), 0);
  std::size_t at = 0;
  LogTime begin = 0;
  for (const LogTime end : ends) {
    std::vector<std::uint32_t> counts(in.num_links(), 0);
    std::vector<Pause> pauses;
    WindowLog::Totals totals;
    for (; at < sorted.size() && std::get<0>(sorted[at]) <= end; ++at) {
      const auto [arrival, position, start] = sorted[at];
      if (!in.in_step() && start != free[position]) {
        pauses.push_back(
            {.position = position, .after = counts[position], .length = start - free[position]});
      }
      free[position] = start + (in.in_step() ? 1 : in.times[position].period);
      ++counts[position];
      totals += {.last = arrival, .deliveries = 1};
    }
    if (totals.deliveries > 0) {
      std::sort(pauses.begin(), pauses.end());
      log.add_window(begin, counts, pauses, totals);
    }
    begin = end;
  }
  log.set_free(in.in_step() ? std::vector<LogTime>() : free);
}

template <class Id>
std::vector<Listed> fill(WindowLog& log, Rng& rng, std::span<const Arrival> sorted) {
  const InLinks& in = log.in_links();
  std::vector<Listed> transfers;
  for (std::uint32_t npu = 0; npu < in.num_npus(); ++npu) {
    const auto into = [&](const Arrival& arrival) {
      return in.first[npu] <= std::get<1>(arrival) && std::get<1>(arrival) < in.first[npu + 1];
    };
    const auto received =
        static_cast<std::uint32_t>(std::count_if(sorted.begin(), sorted.end(), into));
    log.begun_with()[npu] = log.num_chunks() - received;
    Id* entry = log.entries<Id>(npu) + log.begun_with()[npu];
    for (const Arrival& arrival : sorted) {
      if (into(arrival)) {
        *entry = static_cast<Id>(rng.below(log.num_chunks()));
        transfers.emplace_back(static_cast<std::int64_t>(std::get<2>(arrival)),
                               in.links[std::get<1>(arrival)].value(),
                               *entry++);
      }
    }
  }
  std::sort(transfers.begin(), transfers.end());
  return transfers;
}

Made random_log(std::uint64_t seed) {
  Rng rng(seed);
  const bool in_step = rng.below(3) == 0;
  InLinks in = random_links(rng, in_step);
  std::vector<LogTime> ends{1 + rng.below(6)};
  for (std::uint32_t windows = rng.below(8); windows > 0; --windows) {
    ends.push_back(ends.back() + 1 + rng.below(rng.below(4) == 0 ? 600 : 6));
  }
  std::vector<Arrival> sorted;
  for (std::uint32_t position = 0; position < in.num_links(); ++position) {
    const LinkTimes times = in_step ? LinkTimes{} : in.times[position];
    for (const LogTime start :
         in_step ? random_steps(rng, ends) : random_starts(rng, times, ends.back())) {
      sorted.emplace_back(start + times.delay, position, start);
    }
  }
  if (sorted.empty()) {
    return random_log(seed + 1);
  }
  std::sort(sorted.begin(), sorted.end());
  const auto most = static_cast<std::uint32_t>(sorted.size());
  const std::uint32_t chunks = most + (rng.below(4) == 0 ? 70'000 : rng.below(5));
  auto log = std::make_shared<WindowLog>(std::move(in), chunks);
  add_windows(*log, sorted, ends);
  Made made;
  made.transfers = log->narrow() ? fill<std::uint16_t>(*log, rng, sorted)
                                 : fill<std::uint32_t>(*log, rng, sorted);
  made.log = std::move(log);
  return made;
}

/// Of a link, by id.
LogTime delay_of(const WindowLog& log, std::uint32_t link) {
  const InLinks& in = log.in_links();
  const auto at = std::find(in.links.begin(), in.links.end(), LinkId(link)) - in.links.begin();
  return in.in_step() ? 1 : in.times[static_cast<std::size_t>(at)].delay;
}

RC_GTEST_PROP(LogSchedule, ReadsAsWhatItWasMadeFrom, ()) {
  const Made made = random_log(*rc::gen::arbitrary<std::uint64_t>());
  ThreadPool pool(*rc::gen::inRange(1, 4));
  const LogPart part{.log = made.log, .begin = {}, .unit = Ticks{1}};
  RC_ASSERT(list(log_schedule({part}, {}, pool)) == made.transfers);
}

RC_GTEST_PROP(LogSchedule, IsItsOwnMirrorBackwards, ()) {
  const Made made = random_log(*rc::gen::arbitrary<std::uint64_t>());
  ThreadPool pool(*rc::gen::inRange(1, 4));
  const LogPart part{.log = made.log,
                     .order = LogOrder::kBackwards,
                     .op = Op::kReduce,
                     .begin = {},
                     .unit = Ticks{1}};
  std::vector<Listed> mirrored;
  for (const auto& [start, link, chunk] : made.transfers) {
    const auto end = start + static_cast<std::int64_t>(delay_of(*made.log, link));
    mirrored.emplace_back(static_cast<std::int64_t>(made.log->end()) - end, link, chunk);
  }
  std::sort(mirrored.begin(), mirrored.end());
  RC_ASSERT(list(log_schedule({part}, {}, pool)) == mirrored);
}

RC_GTEST_PROP(LogSchedule, HasTheHashOfItsBlocks, ()) {
  const Made first = random_log(*rc::gen::arbitrary<std::uint64_t>());
  ThreadPool pool(*rc::gen::inRange(1, 4));
  LogPart part{.log = first.log,
               .order = LogOrder::kBackwards,
               .op = Op::kReduce,
               .begin = {},
               .unit = Ticks{3}};
  std::vector<LogPart> parts{part};
  part.order = LogOrder::kForwards;
  part.op = Op::kCopy;
  part.begin = part.end();
  parts.push_back(part);
  const Schedule schedule = log_schedule(parts, Ticks{1'000'000}, pool);
  ScheduleBuilder builder(first.log->in_links().num_ids);
  std::size_t at = 0;
  for (const auto& [start, link, chunk] : list(schedule)) {
    const Op op = at++ < first.transfers.size() ? Op::kReduce : Op::kCopy;
    builder.append(Ticks{start}, op, LinkId(link), ChunkId(chunk), Ticks{1'000'000});
  }
  RC_ASSERT(std::move(builder).build().totals() == schedule.totals());
}

/// What a strip lists.
class Collected final : public StripSink {
 public:
  void add(const TransferBatch& batch) override {
    for (std::size_t i = 0; i < batch.size(); ++i) {
      append_run(batch.starts()[i],
                 batch.ops()[i],
                 batch.links().subspan(i, 1),
                 batch.chunks().subspan(i, 1));
    }
  }
  void append_run(Ticks start,
                  Op /*op*/,
                  std::span<const LinkId> links,
                  std::span<const ChunkId> chunks) override {
    for (std::size_t i = 0; i < links.size(); ++i) {
      transfers.emplace_back(start.ps, links[i].value(), chunks[i].value());
    }
  }
  std::vector<Listed> transfers;
};

RC_GTEST_PROP(LogSchedule, HasStretchesThatListWhatTheCursorLists, ()) {
  const Made made = random_log(*rc::gen::arbitrary<std::uint64_t>());
  ThreadPool pool(1);
  LogPart part{.log = made.log,
               .order = LogOrder::kBackwards,
               .op = Op::kReduce,
               .begin = {},
               .unit = Ticks{3}};
  std::vector<LogPart> parts{part};
  part.order = LogOrder::kForwards;
  part.begin = part.end();
  parts.push_back(part);
  const Schedule schedule = log_schedule(parts, {}, pool);
  const auto stretches = source_of(schedule).stretches(*rc::gen::inRange(1, 100));
  const std::uint64_t most = *rc::gen::inRange(1, 3000);
  std::vector<Listed> listed;
  for (std::int64_t last = 0; *stretches->next(most);) {
    std::vector<Listed> all;
    std::vector<std::size_t> strip_of(made.log->in_links().num_ids, stretches->num_strips());
    for (std::size_t strip = 0; strip < stretches->num_strips(); ++strip) {
      Collected one;
      RC_ASSERT(stretches->read(strip, one).has_value());
      std::int64_t before = last;
      for (const auto& [start, link, chunk] : one.transfers) {
        RC_ASSERT(start >= before);
        before = start;
        RC_ASSERT(strip_of[link] == stretches->num_strips() || strip_of[link] == strip ||
                  !stretches->links_keep_to_strips());
        strip_of[link] = strip;
      }
      if (!stretches->side_by_side()) {
        last = before;
      }
      all.insert(all.end(), one.transfers.begin(), one.transfers.end());
    }
    std::sort(all.begin(), all.end());
    last = all.empty() ? last : std::get<0>(all.back());
    listed.insert(listed.end(), all.begin(), all.end());
  }
  RC_ASSERT(listed == list(schedule));
}

RC_GTEST_PROP(LogSchedule, HasListsOfLinksThatListWhatTheCursorLists, ()) {
  const Made made = random_log(*rc::gen::arbitrary<std::uint64_t>());
  ThreadPool pool(*rc::gen::inRange(1, 4));
  const LogPart part{.log = made.log, .begin = Ticks{7}, .unit = Ticks{3}};
  const auto lists = made.log->in_links().in_step()
                         ? make_step_lists(part, pool)
                         : make_timed_lists(part, std::numeric_limits<std::size_t>::max());
  RC_ASSERT(lists != nullptr);
  std::vector<Listed> listed;
  LinkList list;
  for (std::uint32_t link = 0; link < lists->num_links(); ++link) {
    lists->read(LinkId(link), list);
    auto chunk = list.chunks.begin();
    for (const LinkList::Run& run : list.runs) {
      for (std::uint64_t i = 0; i < run.count; ++i) {
        const LogTime start = run.first + i * list.period;
        listed.emplace_back(static_cast<std::int64_t>(start), link, (chunk++)->value());
      }
    }
    RC_ASSERT(chunk == list.chunks.end());
  }
  std::sort(listed.begin(), listed.end());
  RC_ASSERT(listed == made.transfers);
  RC_ASSERT(lists->clock().begin == Ticks{7});
  RC_ASSERT(lists->clock().unit == Ticks{3});
  RC_ASSERT(lists->clock().end == made.log->end());
}

}  // namespace
}  // namespace tacos
