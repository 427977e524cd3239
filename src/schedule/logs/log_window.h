// SPDX-License-Identifier: MIT
// Reads a log piece by piece, each as transfers in start order.
#pragma once

#include <cstddef>
#include <variant>

#include "base/parallel/threads.h"
#include "schedule/logs/log_part.h"
#include "schedule/logs/step_window.h"
#include "schedule/logs/timed_window.h"

namespace tacos {

class LogWindow {
 public:
  explicit LogWindow(const LogPart& part) : reader_(open(part)) {}

  /// Goes to the next piece, in the order of the part; false at the end.
  bool next(ThreadPool& pool) {
    return std::visit([&](auto& reader) { return reader.next(pool); }, reader_);
  }
  /// How many transfers the piece has.
  [[nodiscard]] std::size_t size() const {
    return std::visit([](const auto& reader) { return reader.size(); }, reader_);
  }
  /// Appends the transfers [from, to) of the piece; from any thread.
  template <class Batch>
  void append_to(Batch& batch, std::size_t from, std::size_t to) const {
    std::visit([&](const auto& reader) { reader.append_to(batch, from, to); }, reader_);
  }

 private:
  using Reader = std::variant<StepWindow, TimedWindow>;

  static Reader open(const LogPart& part) {
    return part.log->in_links().in_step() ? Reader(std::in_place_type<StepWindow>, part)
                                          : Reader(std::in_place_type<TimedWindow>, part);
  }

  Reader reader_;
};

}  // namespace tacos
