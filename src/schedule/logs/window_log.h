// SPDX-License-Identifier: MIT
// An explicit schedule as the arrival logs it was made from: which chunk came next to each NPU.
//
// An NPU's log is nearly the schedule itself. What is missing is when and over which link an entry
// came, and windows, spans of time one after the other, give both away: entries are in order of
// arrival and, of those that come together, of in-link; and a link sends back to back for as long
// as it has something to send. So of a window it is enough to know how many entries each in-link
// brought, and for how long it had paused before one, where it did (pauses.h). An entry takes two
// bytes when ids fit (four otherwise), a number a few bits for several entries, a pause four bytes,
// of which there is one for 30 entries on meshes: 2.2 to 2.5 bytes a transfer, against 4 to 8 in
// blocks and 16 in a struct.
//
// Where all transfers take one step, every link that sends in a window begins when the window does,
// and no pauses are kept.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tacos/ids.h"

#include "base/memory/zeroed_bytes.h"
#include "base/parallel/team.h"
#include "schedule/logs/pauses.h"

namespace tacos {

/// What a transfer takes of a link, in the unit of a log.
struct LinkTimes {
  /// Until the link can start the next.
  LogTime period = 1;
  /// Until the chunk is there.
  LogTime delay = 1;

  friend auto operator<=>(const LinkTimes&, const LinkTimes&) = default;
};

/// The links into each NPU, in one list.
struct InLinks {
  /// Positions in `links` where the links into an NPU begin; one more at the end.
  std::vector<std::uint32_t> first;
  /// Every link that works, once.
  std::vector<LinkId> links;
  /// Per link; empty where every transfer takes one unit, a step.
  std::vector<LinkTimes> times = {};
  /// How many ids there are, those of failed links included.
  std::uint32_t num_ids = 0;

  [[nodiscard]] bool in_step() const { return times.empty(); }
  [[nodiscard]] std::uint32_t num_npus() const {
    return static_cast<std::uint32_t>(first.size()) - 1;
  }
  [[nodiscard]] std::uint32_t num_links() const { return static_cast<std::uint32_t>(links.size()); }
  /// How many links lead to an NPU.
  [[nodiscard]] std::uint32_t degree(std::uint32_t npu) const {
    return first[npu + 1] - first[npu];
  }
};

/// Positions of the links, those with lower ids first.
[[nodiscard]] std::vector<std::uint32_t> in_order_of_id(const InLinks& in_links);

/// NPUs from `first` up to `end`.
struct NpuRange {
  std::uint32_t first = 0;
  std::uint32_t end = 0;

  [[nodiscard]] std::uint32_t size() const { return end - first; }
  [[nodiscard]] bool contains(std::uint32_t npu) const { return first <= npu && npu < end; }
};

/// Those of `npus` that are a member's when a team shares them out.
[[nodiscard]] NpuRange share_of(std::uint32_t npus, int member, int size);

/// A log of all NPUs, or of the share of one member of a team that makes and reads it together.
class WindowLog {
 public:
  /// With a team, this member's share; in a file in `directory` unless that is empty.
  WindowLog(InLinks in_links,
            std::uint32_t num_chunks,
            Team* team = nullptr,
            const std::string& directory = {});

  /// Null when all NPUs are here.
  [[nodiscard]] Team* team() const { return team_; }
  /// Equal for the shares of one log.
  [[nodiscard]] std::uint32_t label() const { return label_; }
  /// Whose entries are here.
  [[nodiscard]] NpuRange npus() const { return npus_; }
  /// Positions among the in-links of the first link into them, and how many there are.
  [[nodiscard]] std::uint32_t first_link(NpuRange npus) const {
    return in_links_.first[npus.first];
  }
  [[nodiscard]] std::uint32_t num_links(NpuRange npus) const {
    return in_links_.first[npus.end] - in_links_.first[npus.first];
  }
  [[nodiscard]] const InLinks& in_links() const { return in_links_; }
  [[nodiscard]] std::uint32_t num_chunks() const { return num_chunks_; }
  /// Whether entries are std::uint16_t, or else std::uint32_t.
  [[nodiscard]] static bool narrow(std::uint32_t num_chunks) { return num_chunks <= 0x10000; }
  [[nodiscard]] bool narrow() const { return narrow(num_chunks_); }

  /// The entries of an NPU; `Id` is what narrow() says.
  template <class Id>
  [[nodiscard]] Id* entries(std::uint32_t npu) {
    return static_cast<Id*>(entries_.data()) + std::size_t{npu - npus_.first} * num_chunks_;
  }
  template <class Id>
  [[nodiscard]] const Id* entries(std::uint32_t npu) const {
    return static_cast<const Id*>(entries_.data()) + std::size_t{npu - npus_.first} * num_chunks_;
  }

  /// How many entries of an NPU came with no transfer: what it began with.
  [[nodiscard]] std::span<std::uint32_t> begun_with() { return begun_with_; }
  [[nodiscard]] std::span<const std::uint32_t> begun_with() const { return begun_with_; }

  /// One number for each in-link, in few bits.
  struct Counts {
    /// Bits for each number in `data`; 0: only links that delivered are there, as pairs of position
    /// and number.
    std::uint32_t bits = 0;
    std::vector<std::byte> data;

    Counts() = default;
    explicit Counts(std::span<const std::uint32_t> counts);
    /// Those from `first` on.
    void read(std::uint32_t first, std::span<std::uint32_t> counts) const;
    void read(std::span<std::uint32_t> counts) const { read(0, counts); }
  };
  /// What the links of all NPUs did in a window.
  struct Totals {
    /// When the last entry came.
    LogTime last = 0;
    std::uint64_t deliveries = 0;

    Totals& operator+=(const Totals& other);
  };
  struct Window {
    /// No entry of the window came at that time or before.
    LogTime begin = 0;
    Totals totals;
    /// Of the links into npus(), positions counted from the first of them.
    Counts counts;
    std::vector<std::byte> pauses;
  };

  /// After a window in which in-link i into npus(), by position, delivered counts[i] times, with
  /// these pauses; `totals` are those of the whole team.
  void add_window(LogTime begin,
                  std::span<const std::uint32_t> counts,
                  std::span<const Pause> pauses,
                  const Totals& totals);
  [[nodiscard]] std::span<const Window> windows() const { return windows_; }
  /// Unless in step, after the last window, per link into npus(): when it could have started again
  /// after its last transfer.
  void set_free(std::vector<LogTime> free) { free_ = std::move(free); }
  [[nodiscard]] std::span<const LogTime> free() const { return free_; }

  /// When the last entry of all came.
  [[nodiscard]] LogTime end() const { return windows_.empty() ? 0 : windows_.back().totals.last; }
  /// By the whole team.
  [[nodiscard]] std::uint64_t num_deliveries() const { return num_deliveries_; }
  [[nodiscard]] std::size_t memory_bytes() const;

 private:
  InLinks in_links_;
  std::uint32_t num_chunks_;
  Team* team_;
  std::uint32_t label_;
  NpuRange npus_;
  /// std::uint16_t or std::uint32_t.
  ZeroedBytes entries_;
  std::vector<std::uint32_t> begun_with_;
  std::vector<Window> windows_;
  std::vector<LogTime> free_;
  std::uint64_t num_deliveries_ = 0;
};

/// Schedules that are read from one log share it.
using SharedLog = std::shared_ptr<const WindowLog>;

}  // namespace tacos
