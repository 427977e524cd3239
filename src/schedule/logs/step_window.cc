// SPDX-License-Identifier: MIT
#include "schedule/logs/step_window.h"

#include <algorithm>
#include <array>
#include <iterator>

namespace tacos {
StepWindow::StepWindow(const LogPart& part)
    : part_(part),
      log_(*part.log),
      by_id_(in_order_of_id(log_.in_links())),
      pages_(open_pages(log_)),
      column_(log_.in_links().num_links()) {}

bool StepWindow::next(ThreadPool& pool) {
  if (done_ == pages_->size()) {
    return false;
  }
  const std::size_t from_end = pages_->size() - 1 - done_;
  const std::size_t number = part_.order == LogOrder::kForwards ? done_ : from_end;
  ++done_;
  pages_->turn_to(number);
  set_columns();
  set_runs(pages_->begin(number));
  if (log_.narrow()) {
    fill(narrow_table_, pool);
  } else {
    fill(wide_table_, pool);
  }
  return true;
}

/// Gives the links that deliver a column each, in order of their ids, and counts them per step.
void StepWindow::set_columns() {
  column_link_.clear();
  column_count_.clear();
  delivering_.clear();
  for (const std::uint32_t position : by_id_) {
    const std::uint32_t count = pages_->counts()[position];
    if (count == 0) {
      continue;
    }
    column_[position] = static_cast<std::uint32_t>(column_link_.size());
    column_link_.push_back(log_.in_links().links[position]);
    column_count_.push_back(count);
    if (count > delivering_.size()) {
      delivering_.resize(count, 0);
    }
    ++delivering_[count - 1];
  }
  // Those with more than s: all whose number is s+1 or more.
  for (std::size_t step = delivering_.size(); step-- > 1;) {
    delivering_[step - 1] += delivering_[step];
  }
}

void StepWindow::set_runs(LogTime begin) {
  const auto steps = static_cast<std::uint32_t>(delivering_.size());
  runs_.clear();
  std::size_t at = 0;
  for (std::uint32_t i = 0; i < steps; ++i) {
    const std::uint32_t step = part_.order == LogOrder::kForwards ? i : steps - 1 - i;
    at += delivering_[step];
    // Backwards, what ended last starts first.
    const LogTime start =
        part_.order == LogOrder::kForwards ? begin + step : log_.end() - (begin + step + 1);
    runs_.push_back({.start = part_.at(start), .end = at, .step = step});
  }
}

template <class Id>
void StepWindow::fill(std::vector<Id>& table, ThreadPool& pool) {
  table.resize(delivering_.size() * column_link_.size());
  constexpr std::size_t kGrain = 64;
  // What has come to an NPU in a window is a line or two, far from that of any other.
  constexpr std::size_t kAhead = 8;
  pool.for_ranges(log_.in_links().num_npus(), kGrain, [&](std::size_t from, std::size_t to) {
    for (std::size_t npu = from; npu < to; ++npu) {
      if (npu + kAhead < to) {
        __builtin_prefetch(pages_->entries<Id>(static_cast<std::uint32_t>(npu + kAhead)));
      }
      fill_npu(static_cast<std::uint32_t>(npu), table);
    }
  });
}

template <class Id>
void StepWindow::fill_npu(std::uint32_t npu, std::vector<Id>& table) {
  const std::uint32_t first = log_.in_links().first[npu];
  const std::uint32_t end = log_.in_links().first[npu + 1];
  const auto counts = pages_->counts();
  std::uint32_t total = 0;
  for (std::uint32_t at = first; at < end; ++at) {
    total += counts[at];
  }
  const Id* entry = pages_->entries<Id>(npu);
  const Id* const stop = entry + total;
  Id* row = table.data();
  for (std::uint32_t step = 0; entry != stop; ++step, row += column_link_.size()) {
    for (std::uint32_t at = first; at < end; ++at) {
      if (counts[at] > step) {
        row[column_[at]] = *entry++;
      }
    }
  }
}

/// Lists `count` transfers of a step, without the first `skip`.
template <class Id, class Batch>
void StepWindow::append_run(const std::vector<Id>& table,
                            const Run& run,
                            std::size_t skip,
                            std::size_t count,
                            Batch& batch) const {
  const std::size_t columns = column_link_.size();
  const Id* row = table.data() + run.step * columns;
  constexpr std::size_t kPiece = 1024;
  std::array<ChunkId, kPiece> chunks;
  std::array<LinkId, kPiece> links;
  const bool all = delivering_[run.step] == columns;
  std::size_t column = all ? skip : 0;
  for (std::size_t skipped = all ? skip : 0; skipped < skip; ++column) {
    skipped += column_count_[column] > run.step ? 1 : 0;
  }
  while (count > 0) {
    const std::size_t piece = std::min(count, kPiece);
    if (all) {
      std::transform(row + column, row + column + piece, chunks.begin(), [](Id chunk) {
        return ChunkId(chunk);
      });
      batch.append_run(run.start,
                       part_.op,
                       std::span(column_link_).subspan(column, piece),
                       std::span(chunks).first(piece));
      column += piece;
    } else {
      for (std::size_t listed = 0; listed < piece; ++column) {
        links[listed] = column_link_[column];
        chunks[listed] = ChunkId(row[column]);
        listed += column_count_[column] > run.step ? 1 : 0;
      }
      batch.append_run(
          run.start, part_.op, std::span(links).first(piece), std::span(chunks).first(piece));
    }
    count -= piece;
  }
}

template <class Batch>
void StepWindow::append_to(Batch& batch, std::size_t from, std::size_t to) const {
  auto run = std::upper_bound(
      runs_.begin(), runs_.end(), from, [](std::size_t at, const Run& r) { return at < r.end; });
  for (; from < to; ++run) {
    const std::size_t begin = run == runs_.begin() ? 0 : std::prev(run)->end;
    const std::size_t count = std::min(to, run->end) - from;
    if (log_.narrow()) {
      append_run(narrow_table_, *run, from - begin, count, batch);
    } else {
      append_run(wide_table_, *run, from - begin, count, batch);
    }
    from += count;
  }
}

template void StepWindow::append_to(TransferBatch& batch, std::size_t from, std::size_t to) const;
template void StepWindow::append_to(RunBlock& batch, std::size_t from, std::size_t to) const;

}  // namespace tacos
