// SPDX-License-Identifier: MIT
// Where the transfers of a schedule come from: blocks, logs, patterns, timetables or a file, all
// behind one face. What a schedule is beyond its transfers, its form, is asked for here and nowhere
// else.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <variant>

#include "tacos/schedule.h"

#include "base/parallel/threads.h"
#include "schedule/link_lists.h"
#include "schedule/stretches.h"

namespace tacos {

/// A few transfers that every NPU makes in its own place (schedule/patterns/pattern.h).
struct Pattern;
/// The same where the network is symmetric in some other way (schedule/patterns/orbits.h).
struct OrbitPattern;
/// One round of transfers, repeated in time (schedule/periodic/timetable.h).
struct Timetable;

/// Transfers that are listed one by one.
struct Listed {};
/// What a schedule is, for those who do better than to read every transfer. Visit it with an
/// `Overloaded` that has a case for each: a new form then does not compile until everybody knows
/// it.
using ScheduleForm = std::variant<Listed, const Pattern*, const OrbitPattern*, const Timetable*>;

template <class... Cases>
struct Overloaded : Cases... {
  using Cases::operator()...;
};
template <class... Cases>
Overloaded(Cases...) -> Overloaded<Cases...>;

/// Anything that can list transfers in start order.
class TransferSource {
 public:
  TransferSource() = default;
  TransferSource(const TransferSource&) = delete;
  TransferSource& operator=(const TransferSource&) = delete;
  virtual ~TransferSource() = default;
  [[nodiscard]] virtual std::unique_ptr<TransferCursor> cursor() const = 0;
  /// The same batches from the last to the first, each still in start order; null when the source
  /// can only be read forwards.
  [[nodiscard]] virtual std::unique_ptr<TransferCursor> reverse_cursor() const { return nullptr; }
  /// The transfers that this process holds, for about so many threads to read. Must not outlive the
  /// source.
  [[nodiscard]] virtual std::unique_ptr<Stretches> stretches(int threads) const;
  /// All transfers link by link; null where they cannot be read so. Must not outlive the source.
  [[nodiscard]] virtual std::unique_ptr<LinkLists> link_lists(ThreadPool& /*pool*/) const {
    return nullptr;
  }
  /// Whether this process holds all transfers.
  [[nodiscard]] virtual bool whole() const { return true; }
  [[nodiscard]] virtual std::size_t memory_bytes() const = 0;
  /// Lives as long as the source.
  [[nodiscard]] virtual ScheduleForm form() const { return Listed{}; }
  /// What its blocks take in a file; 0 when that is not known.
  [[nodiscard]] virtual std::uint64_t encoded_bytes() const { return 0; }
  /// The hash of its transfers, of sources that find it out when they are first asked, by whatever
  /// thread.
  [[nodiscard]] virtual std::optional<std::uint64_t> late_hash() const { return std::nullopt; }
  /// Calls `read`, which may use cursors. Where several processes hold the transfers together, all
  /// of them call this: the first reads, and the others help until it is done.
  virtual void read_together(const std::function<void()>& read) const { read(); }
};

[[nodiscard]] Schedule make_schedule(std::shared_ptr<const TransferSource> source,
                                     const Schedule::Totals& totals);
/// Lives as long as the schedule or a copy of it.
[[nodiscard]] const TransferSource& source_of(const Schedule& schedule);

}  // namespace tacos
