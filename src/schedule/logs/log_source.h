// SPDX-License-Identifier: MIT
// Schedules that are arrival logs, read forwards or backwards, one after the other. Their blocks
// are made when a reader asks for them and never kept.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "tacos/schedule.h"

#include "base/parallel/threads.h"
#include "schedule/logs/log_window.h"
#include "schedule/source.h"

namespace tacos {

class LogSource final : public TransferSource {
 public:
  /// What is known of the blocks once they were made.
  struct Encoded {
    std::uint64_t hash = 0;
    std::uint64_t bytes = 0;
  };
  /// Nothing is known of the blocks until somebody asks; then as many threads as the pool has make
  /// them.
  LogSource(std::vector<LogPart> parts, const ThreadPool& pool);
  LogSource(std::vector<LogPart> parts, Encoded encoded);

  [[nodiscard]] std::unique_ptr<TransferCursor> cursor() const override;
  [[nodiscard]] std::unique_ptr<Stretches> stretches(int threads) const override;
  [[nodiscard]] std::unique_ptr<LinkLists> link_lists(ThreadPool& pool) const override;
  [[nodiscard]] bool whole() const override { return parts_.front().log->team() == nullptr; }
  [[nodiscard]] std::size_t memory_bytes() const override;
  [[nodiscard]] std::uint64_t encoded_bytes() const override { return encoded().bytes; }
  [[nodiscard]] std::optional<std::uint64_t> late_hash() const override { return encoded().hash; }
  void read_together(const std::function<void()>& read) const override;

 private:
  [[nodiscard]] const Encoded& encoded() const;

  std::vector<LogPart> parts_;
  /// To find out with; 0 when it is known.
  int threads_;
  mutable std::once_flag asked_;
  mutable Encoded encoded_;
};

/// The parts, each of which begins when the one before has ended, as a schedule. For its hash
/// everything is encoded once, on all threads: when it is first asked for, or at once where a team
/// holds the logs.
[[nodiscard]] Schedule log_schedule(std::vector<LogPart> parts,
                                    Ticks collective_time,
                                    ThreadPool& pool);

/// Reads parts of logs, or has the leader of the team that holds them do so; its result is
/// everybody's.
template <Sendable T>
[[nodiscard]] T read_parts(std::span<const LogPart> parts, const std::function<T()>& read) {
  std::vector<SharedLog> logs;
  for (const LogPart& part : parts) {
    logs.push_back(part.log);
  }
  T result{};
  read_together(logs, [&] { result = read(); });
  Team* team = logs.front()->team();
  return team == nullptr ? result : broadcast(*team, 0, result);
}

}  // namespace tacos
