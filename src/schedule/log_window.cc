// SPDX-License-Identifier: MIT
#include "schedule/log_window.h"

#include <algorithm>

#include "base/assert.h"

namespace tacos {

LogWindow::LogWindow(const LogPart& part)
    : part_(part),
      log_(*part.log),
      position_(log_.in_links().num_links()),
      entry_(log_.in_links().num_npus(), log_.num_chunks()),
      counts_(log_.in_links().num_links()),
      column_(log_.in_links().num_links()) {
  for (std::uint32_t position = 0; position < position_.size(); ++position) {
    const LinkId link = log_.in_links().links[position];
    TACOS_ASSERT(link.index() < position_.size(), "in-links are all the links");
    position_[link.index()] = position;
  }
  if (part.order == StepOrder::kForwards) {
    std::copy(log_.begun_with().begin(), log_.begun_with().end(), entry_.begin());
  }
}

bool LogWindow::next(ThreadPool& pool) {
  const auto windows = log_.windows();
  if (done_ == windows.size()) {
    return false;
  }
  const std::size_t from_end = windows.size() - 1 - done_;
  const StepLog::Window& window = windows[part_.order == StepOrder::kForwards ? done_ : from_end];
  ++done_;
  log_.read_counts(window, counts_);
  set_columns();
  set_runs(window);
  links_.resize(window.deliveries);
  chunks_.resize(window.deliveries);
  if (log_.narrow()) {
    fill(narrow_table_, pool);
    list(narrow_table_, pool);
  } else {
    fill(wide_table_, pool);
    list(wide_table_, pool);
  }
  return true;
}

/// Gives the links that deliver a column each, in order of their ids, and counts them per step.
void LogWindow::set_columns() {
  column_link_.clear();
  column_count_.clear();
  delivering_.clear();
  for (std::uint32_t link = 0; link < position_.size(); ++link) {
    const std::uint32_t position = position_[link];
    const std::uint32_t count = counts_[position];
    if (count == 0) {
      continue;
    }
    column_[position] = static_cast<std::uint32_t>(column_link_.size());
    column_link_.emplace_back(link);
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

void LogWindow::set_runs(const StepLog::Window& window) {
  const auto steps = static_cast<std::uint32_t>(delivering_.size());
  runs_.clear();
  first_.resize(steps);
  std::size_t at = 0;
  for (std::uint32_t i = 0; i < steps; ++i) {
    const std::uint32_t step = part_.order == StepOrder::kForwards ? i : steps - 1 - i;
    first_[step] = at;
    at += delivering_[step];
    runs_.push_back({.start = part_.start(window.first_step + step), .end = at});
  }
}

template <class Id>
void LogWindow::fill(std::vector<Id>& table, ThreadPool& pool) {
  table.resize(delivering_.size() * column_link_.size());
  constexpr std::size_t kGrain = 64;
  pool.for_ranges(entry_.size(), kGrain, [&](std::size_t from, std::size_t to) {
    for (std::size_t npu = from; npu < to; ++npu) {
      fill_npu(static_cast<std::uint32_t>(npu), table);
    }
  });
}

template <class Id>
void LogWindow::fill_npu(std::uint32_t npu, std::vector<Id>& table) {
  const std::uint32_t first = log_.in_links().first[npu];
  const std::uint32_t end = log_.in_links().first[npu + 1];
  std::uint32_t total = 0;
  for (std::uint32_t at = first; at < end; ++at) {
    total += counts_[at];
  }
  if (part_.order == StepOrder::kBackwards) {
    entry_[npu] -= total;
  }
  const Id* entry = log_.entries<Id>(npu) + entry_[npu];
  if (part_.order == StepOrder::kForwards) {
    entry_[npu] += total;
  }
  const Id* const stop = entry + total;
  Id* row = table.data();
  for (std::uint32_t step = 0; entry != stop; ++step, row += column_link_.size()) {
    for (std::uint32_t at = first; at < end; ++at) {
      if (counts_[at] > step) {
        row[column_[at]] = *entry++;
      }
    }
  }
}

template <class Id>
void LogWindow::list(const std::vector<Id>& table, ThreadPool& pool) {
  pool.for_ranges(delivering_.size(), 1, [&](std::size_t from, std::size_t to) {
    for (std::size_t step = from; step < to; ++step) {
      list_step(static_cast<std::uint32_t>(step), table.data() + step * column_link_.size());
    }
  });
}

template <class Id>
void LogWindow::list_step(std::uint32_t step, const Id* row) {
  const std::size_t columns = column_link_.size();
  LinkId* links = links_.data() + first_[step];
  ChunkId* chunks = chunks_.data() + first_[step];
  if (delivering_[step] == columns) {
    std::copy(column_link_.begin(), column_link_.end(), links);
    for (std::size_t column = 0; column < columns; ++column) {
      chunks[column] = ChunkId(row[column]);
    }
    return;
  }
  for (std::size_t column = 0; column < columns; ++column) {
    if (column_count_[column] > step) {
      *links++ = column_link_[column];
      *chunks++ = ChunkId(row[column]);
    }
  }
}

void LogWindow::append_to(TransferBatch& batch, std::size_t from, std::size_t to) const {
  auto run = std::upper_bound(
      runs_.begin(), runs_.end(), from, [](std::size_t at, const Run& r) { return at < r.end; });
  for (; from < to; ++run) {
    const std::size_t count = std::min(to, run->end) - from;
    batch.append_run(run->start,
                     part_.op,
                     std::span(links_).subspan(from, count),
                     std::span(chunks_).subspan(from, count));
    from += count;
  }
}

}  // namespace tacos
