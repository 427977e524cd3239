// SPDX-License-Identifier: MIT
// Any schedule as the blocks of a file.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "tacos/schedule.h"

#include "schedule/blocks/block.h"
#include "schedule/read_ahead.h"

namespace tacos {

/// The transfers of any schedule as whole blocks.
class BlockReader {
 public:
  BlockReader(const Schedule& schedule, std::uint32_t num_links, int threads)
      : cursor_(open_cursor(schedule, threads)), num_links_(num_links) {}

  /// Encodes the next block; one of size 0 is the end.
  [[nodiscard]] Status next() {
    block_.clear();
    while (block_.size() < kBlockTransfers) {
      if (at_ == batch_.size()) {
        at_ = 0;
        if (Status read = cursor_->next(batch_); !read) {
          return read;
        }
        if (batch_.empty()) {
          break;
        }
      }
      const std::size_t end = std::min(batch_.size(), at_ + kBlockTransfers - block_.size());
      block_.append(batch_, at_, end);
      at_ = end;
    }
    bytes_.clear();
    BlockCodec::encode(block_, num_links_, bytes_);
    return ok();
  }
  [[nodiscard]] std::size_t size() const { return block_.size(); }
  [[nodiscard]] std::span<const std::byte> bytes() const { return bytes_; }

 private:
  std::unique_ptr<TransferCursor> cursor_;
  std::uint32_t num_links_;
  TransferBatch batch_;
  std::size_t at_ = 0;
  TransferBatch block_;
  std::vector<std::byte> bytes_;
};

}  // namespace tacos
