// SPDX-License-Identifier: MIT
// Reads a log of unequal links piece by piece, each as transfers in start order.
//
// A window tells in which order entries came to an NPU; the numbers and pauses of its in-links tell
// when those came that each link brought, and merging these times tells which link brought which
// entry. That is done NPU by NPU, in parallel. A log is in order of arrival, a schedule in order of
// start: forwards, a transfer is known only when the window is read in which it ends, so windows
// are read ahead by the longest delay. Backwards, starts are what ends were, and nothing is read
// ahead; where links are at the end of a window follows from where they are at the end of all.
//
// O(in-degree) for each transfer, O(log in-degree) where that is large, and O(links) for each
// window and each piece.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "base/parallel/threads.h"
#include "schedule/logs/log_pages.h"
#include "schedule/logs/log_part.h"
#include "schedule/logs/start_order.h"

namespace tacos {

class TimedWindow {
 public:
  /// Of all NPUs.
  explicit TimedWindow(const LogPart& part);
  /// Of those whose entries are here. Pieces begin and end at the same times for all members of a
  /// team.
  [[nodiscard]] static TimedWindow of_own(const LogPart& part);

  /// Goes to the next piece, in the order of the part; false at the end.
  bool next(ThreadPool& pool);
  /// How many transfers the piece has.
  [[nodiscard]] std::size_t size() const { return order_.links().size(); }
  /// Appends the transfers [from, to) of the piece; from any thread.
  template <class Batch>
  void append_to(Batch& batch, std::size_t from, std::size_t to) const;

 private:
  /// Transfers of an in-link, back to back, that end in one window.
  struct Segment {
    LogTime start = 0;
    std::uint32_t position = 0;
    std::uint32_t count = 0;
    /// How many are in pieces already.
    std::uint32_t listed = 0;
    /// The first one's chunk, by position in the window.
    std::size_t chunk = 0;
  };
  /// A window that has been read.
  struct Page {
    LogTime last = 0;
    std::vector<Segment> segments;
    std::vector<ChunkId> chunks;
  };

  TimedWindow(const LogPart& part, NpuRange npus, std::unique_ptr<LogPages> pages);

  [[nodiscard]] bool forwards() const { return part_.order == LogOrder::kForwards; }
  void read_page(ThreadPool& pool);
  void set_segments(Page& page);
  template <class Id>
  void set_chunks(Page& page, ThreadPool& pool) const;
  /// Whether what is known is worth a piece, and what it has to be up to then.
  [[nodiscard]] bool enough() const;
  void list_forwards(LogTime limit);
  void list_backwards();

  const LogPart& part_;
  const WindowLog& log_;
  /// Whose transfers are read, and the position of the first link into them: pages count from
  /// there.
  NpuRange npus_;
  std::uint32_t base_;
  std::unique_ptr<LogPages> pages_;
  LogTime longest_ = 0;
  std::size_t done_ = 0;
  /// Per in-link: when it can start after what has been read, or backwards, before it.
  std::vector<LogTime> free_;
  /// Per NPU: where its segments of the page begin, and one more.
  std::vector<std::size_t> first_segment_;
  std::deque<Page> read_;
  std::size_t unlisted_ = 0;
  /// Forwards, all transfers that start before this time are in pieces.
  LogTime listed_until_ = 0;
  std::vector<Series> series_;
  StartOrder order_;
};

}  // namespace tacos
