// SPDX-License-Identifier: MIT
// How much of a schedule has been written.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "tacos/bundle.h"

namespace tacos {

class WriteProgress {
 public:
  WriteProgress(const WriteOptions& options, const Schedule& schedule)
      : options_(options), total_(std::max<std::uint64_t>(1, schedule.num_transfers())) {}

  void add(std::size_t transfers) {
    written_ += transfers;
    if (options_.progress) {
      options_.progress(std::min(1.0, static_cast<double>(written_) / static_cast<double>(total_)));
    }
  }

 private:
  const WriteOptions& options_;
  std::uint64_t total_;
  std::uint64_t written_ = 0;
};

}  // namespace tacos
