// SPDX-License-Identifier: MIT
// An explicit schedule as the arrival logs it was made from: which chunk came next to each NPU.
//
// Where all transfers take one step, an NPU's log is nearly the schedule itself. What is missing is
// when and over which link an entry came, and windows give both away: within a window the entries
// of an NPU are in order of step and, within a step, of in-link; and a link that delivers nothing
// in a step delivers nothing in the rest of the window, since what its source may send is fixed
// when the window begins. So a window is told by one number for each in-link, how many it
// delivered: in its step s exactly the links with more than s deliver. An entry takes two bytes
// when ids fit (four otherwise), and a number a few bits for several entries: 2.2 bytes a transfer
// on a mesh of 40,000 NPUs, against 4 in blocks and 16 in a struct.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tacos/ids.h"

#include "base/memory/zeroed_bytes.h"
#include "base/parallel/team.h"

namespace tacos {

/// The links into each NPU, in one list.
struct InLinks {
  /// Positions in `links` where the links into an NPU begin; one more at the end.
  std::vector<std::uint32_t> first;
  /// Every link once.
  std::vector<LinkId> links;

  [[nodiscard]] std::uint32_t num_npus() const {
    return static_cast<std::uint32_t>(first.size()) - 1;
  }
  [[nodiscard]] std::uint32_t num_links() const { return static_cast<std::uint32_t>(links.size()); }
};

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
class StepLog {
 public:
  /// With a team, this member's share; in a file in `directory` unless that is empty.
  StepLog(InLinks in_links,
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

    /// Those from `first` on.
    void read(std::uint32_t first, std::span<std::uint32_t> counts) const;
    void read(std::span<std::uint32_t> counts) const { read(0, counts); }
  };
  /// What the links of all NPUs did in a window.
  struct Totals {
    /// Steps in which something was delivered: the first so many.
    std::uint32_t busy_steps = 0;
    std::uint64_t deliveries = 0;

    Totals& operator+=(const Totals& other);
  };
  struct Window {
    std::uint32_t first_step = 0;
    std::uint32_t steps = 0;
    Totals totals;
    /// Of the links into npus().
    Counts counts;
  };

  [[nodiscard]] static Totals totals_of(std::span<const std::uint32_t> counts);
  /// After `steps` more steps in which in-link i into npus(), by position, delivered counts[i]
  /// times; `totals` are those of the whole team.
  void add_window(std::uint32_t steps, std::span<const std::uint32_t> counts, const Totals& totals);
  void add_window(std::uint32_t steps, std::span<const std::uint32_t> counts) {
    add_window(steps, counts, totals_of(counts));
  }
  [[nodiscard]] std::span<const Window> windows() const { return windows_; }

  [[nodiscard]] std::uint32_t num_steps() const { return num_steps_; }
  /// The step after the last in which something was delivered.
  [[nodiscard]] std::uint32_t end_step() const {
    return windows_.empty() ? 0 : windows_.back().first_step + windows_.back().totals.busy_steps;
  }
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
  std::uint32_t num_steps_ = 0;
  std::uint64_t num_deliveries_ = 0;
};

/// Schedules that are read from one log share it.
using SharedLog = std::shared_ptr<const StepLog>;

}  // namespace tacos
