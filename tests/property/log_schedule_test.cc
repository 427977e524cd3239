// SPDX-License-Identifier: MIT
// What must hold for every log, whatever made it.
#include <algorithm>
#include <numeric>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "base/numbers/rng.h"
#include "schedule/builder.h"
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

template <class Id>
void fill(StepLog& log, Rng& rng, const std::vector<std::uint32_t>& received) {
  for (std::uint32_t npu = 0; npu < log.in_links().num_npus(); ++npu) {
    log.begun_with()[npu] = log.num_chunks() - received[npu];
    for (std::uint32_t i = 0; i < log.num_chunks(); ++i) {
      log.entries<Id>(npu)[i] = static_cast<Id>(rng.below(log.num_chunks()));
    }
  }
}

template <class Id>
std::vector<Listed> expected(const StepLog& log,
                             const std::vector<std::vector<std::uint32_t>>& windows,
                             const std::vector<std::uint32_t>& steps) {
  std::vector<Listed> transfers;
  const InLinks& in = log.in_links();
  for (std::uint32_t npu = 0; npu < in.num_npus(); ++npu) {
    const Id* entry = log.entries<Id>(npu) + log.begun_with()[npu];
    std::int64_t first_step = 0;
    for (std::size_t window = 0; window < windows.size(); ++window) {
      for (std::uint32_t step = 0; step < steps[window]; ++step) {
        for (std::uint32_t at = in.first[npu]; at < in.first[npu + 1]; ++at) {
          if (windows[window][at] > step) {
            transfers.emplace_back(first_step + step, in.links[at].value(), *entry++);
          }
        }
      }
      first_step += steps[window];
    }
  }
  std::sort(transfers.begin(), transfers.end());
  return transfers;
}

Made random_log(std::uint64_t seed) {
  Rng rng(seed);
  const std::uint32_t npus = 1 + rng.below(5);
  const std::uint32_t links = 1 + rng.below(40);
  InLinks in{.first = {0}, .links = {}};
  for (std::uint32_t npu = 1; npu < npus; ++npu) {
    in.first.push_back(in.first.back() + rng.below(links - in.first.back() + 1));
  }
  in.first.push_back(links);
  for (std::uint32_t link = 0; link < links; ++link) {
    in.links.emplace_back(link);
  }
  for (std::uint32_t i = links; i-- > 1;) {
    std::swap(in.links[i], in.links[rng.below(i + 1)]);
  }
  std::vector<std::uint32_t> received(npus, 0);
  std::vector<std::vector<std::uint32_t>> windows(1 + rng.below(8));
  std::vector<std::uint32_t> steps(windows.size());
  for (std::size_t window = 0; window < windows.size(); ++window) {
    steps[window] = 1 + rng.below(rng.below(4) == 0 ? 600 : 6);
    windows[window].resize(links);
    const std::uint32_t one_in = 1 + rng.below(3) * 10;
    for (std::uint32_t& count : windows[window]) {
      count = rng.below(one_in) == 0 ? rng.below(steps[window] + 1) : 0;
    }
  }
  // The last step of all has a delivery.
  windows.back().back() = steps.back();
  for (const std::vector<std::uint32_t>& window : windows) {
    for (std::uint32_t npu = 0; npu < npus; ++npu) {
      received[npu] +=
          std::accumulate(window.begin() + in.first[npu], window.begin() + in.first[npu + 1], 0U);
    }
  }
  const std::uint32_t most = *std::max_element(received.begin(), received.end());
  const std::uint32_t chunks = most + (rng.below(4) == 0 ? 70'000 : rng.below(5));
  auto log = std::make_shared<StepLog>(std::move(in), chunks);
  for (std::size_t window = 0; window < windows.size(); ++window) {
    log->add_window(steps[window], windows[window]);
  }
  Made made;
  if (log->narrow()) {
    fill<std::uint16_t>(*log, rng, received);
    made.transfers = expected<std::uint16_t>(*log, windows, steps);
  } else {
    fill<std::uint32_t>(*log, rng, received);
    made.transfers = expected<std::uint32_t>(*log, windows, steps);
  }
  made.log = std::move(log);
  return made;
}

RC_GTEST_PROP(LogSchedule, ReadsAsWhatItWasMadeFrom, ()) {
  const Made made = random_log(*rc::gen::arbitrary<std::uint64_t>());
  ThreadPool pool(*rc::gen::inRange(1, 4));
  const LogPart part{.log = made.log, .begin = {}, .step = Ticks{1}};
  RC_ASSERT(list(log_schedule({part}, {}, pool)) == made.transfers);
}

RC_GTEST_PROP(LogSchedule, IsItsOwnMirrorBackwards, ()) {
  const Made made = random_log(*rc::gen::arbitrary<std::uint64_t>());
  ThreadPool pool(*rc::gen::inRange(1, 4));
  const LogPart part{.log = made.log,
                     .order = StepOrder::kBackwards,
                     .op = Op::kReduce,
                     .begin = {},
                     .step = Ticks{1}};
  std::vector<Listed> mirrored;
  for (const auto& [start, link, chunk] : made.transfers) {
    mirrored.emplace_back(made.log->end_step() - 1 - start, link, chunk);
  }
  std::sort(mirrored.begin(), mirrored.end());
  RC_ASSERT(list(log_schedule({part}, {}, pool)) == mirrored);
}

RC_GTEST_PROP(LogSchedule, HasTheHashOfItsBlocks, ()) {
  const Made first = random_log(*rc::gen::arbitrary<std::uint64_t>());
  ThreadPool pool(*rc::gen::inRange(1, 4));
  LogPart part{.log = first.log,
               .order = StepOrder::kBackwards,
               .op = Op::kReduce,
               .begin = {},
               .step = Ticks{3}};
  std::vector<LogPart> parts{part};
  part.order = StepOrder::kForwards;
  part.op = Op::kCopy;
  part.begin = part.end();
  parts.push_back(part);
  const Schedule schedule = log_schedule(parts, Ticks{1'000'000}, pool);
  ScheduleBuilder builder(first.log->in_links().num_links());
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
      add_run(batch.starts()[i],
              batch.ops()[i],
              batch.links().subspan(i, 1),
              batch.chunks().subspan(i, 1));
    }
  }
  void add_run(Ticks start,
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
               .order = StepOrder::kBackwards,
               .op = Op::kReduce,
               .begin = {},
               .step = Ticks{3}};
  std::vector<LogPart> parts{part};
  part.order = StepOrder::kForwards;
  part.begin = part.end();
  parts.push_back(part);
  const Schedule schedule = log_schedule(parts, {}, pool);
  const auto stretches = source_of(schedule).stretches(*rc::gen::inRange(1, 100));
  const std::uint64_t most = *rc::gen::inRange(1, 3000);
  std::vector<Listed> listed;
  for (std::int64_t last = 0; *stretches->next(most);) {
    std::vector<Listed> all;
    std::vector<std::size_t> strip_of(made.log->in_links().num_links(), stretches->num_strips());
    for (std::size_t strip = 0; strip < stretches->num_strips(); ++strip) {
      Collected one;
      RC_ASSERT(stretches->read(strip, one).has_value());
      std::int64_t before = last;
      for (const auto& [start, link, chunk] : one.transfers) {
        RC_ASSERT(start >= before);
        before = start;
        RC_ASSERT(strip_of[link] == stretches->num_strips() || strip_of[link] == strip);
        strip_of[link] = strip;
      }
      all.insert(all.end(), one.transfers.begin(), one.transfers.end());
    }
    std::sort(all.begin(), all.end());
    last = all.empty() ? last : std::get<0>(all.back());
    listed.insert(listed.end(), all.begin(), all.end());
  }
  RC_ASSERT(listed == list(schedule));
}

}  // namespace
}  // namespace tacos
