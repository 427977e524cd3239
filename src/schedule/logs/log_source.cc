// SPDX-License-Identifier: MIT
#include "schedule/logs/log_source.h"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include "base/numbers/hash.h"
#include "schedule/blocks/block.h"
#include "schedule/logs/log_lists.h"
#include "schedule/logs/log_stretches.h"

namespace tacos {
namespace {

class LogCursor final : public TransferCursor {
 public:
  explicit LogCursor(std::span<const LogPart> parts) : rest_(parts), pool_(1) {}

  [[nodiscard]] Status next(TransferBatch& batch) override {
    batch.clear();
    while (batch.size() < kBatch && has_more()) {
      const std::size_t end = std::min(window_->size(), at_ + kBatch - batch.size());
      window_->append_to(batch, at_, end);
      at_ = end;
    }
    return ok();
  }

 private:
  /// Few enough to stay in the cache between being written and being read.
  static constexpr std::size_t kBatch = 8192;

  /// Whether there is a transfer at `at_`, after going to the next window if need be.
  bool has_more() {
    while (!window_ || at_ == window_->size()) {
      at_ = 0;
      if (window_ && window_->next(pool_)) {
        continue;
      }
      if (rest_.empty()) {
        window_.reset();
        return false;
      }
      window_.emplace(rest_.front());
      rest_ = rest_.subspan(1);
    }
    return true;
  }

  std::span<const LogPart> rest_;
  ThreadPool pool_;
  std::optional<LogWindow> window_;
  std::size_t at_ = 0;
};

/// Encodes blocks without keeping them: several at once, hashed in their order.
class HashPass {
 public:
  HashPass(std::uint32_t num_links, ThreadPool& pool)
      : num_links_(num_links),
        pool_(pool),
        blocks_(pool.threads() == 1 ? 1 : 2 * static_cast<std::size_t>(pool.threads())) {}

  void add(const LogWindow& window) {
    std::size_t at = 0;
    while (carried_.size() + window.size() - at >= kBlockTransfers) {
      const std::size_t whole = (carried_.size() + window.size() - at) / kBlockTransfers;
      const std::size_t count = std::min(whole, blocks_.size());
      const std::size_t first = at + kBlockTransfers - carried_.size();
      pool_.for_ranges(count, 1, [&](std::size_t from, std::size_t to) {
        for (std::size_t i = from; i < to; ++i) {
          RunBlock& batch = blocks_[i].batch;
          batch.clear();
          if (i == 0) {
            std::swap(batch, carried_);
            window.append_to(batch, at, first);
          } else {
            const std::size_t begin = first + (i - 1) * kBlockTransfers;
            window.append_to(batch, begin, begin + kBlockTransfers);
          }
          encode(blocks_[i]);
        }
      });
      at = first + (count - 1) * kBlockTransfers;
      for (std::size_t i = 0; i < count; ++i) {
        add(blocks_[i]);
      }
      carried_.clear();
    }
    window.append_to(carried_, at, window.size());
  }
  void finish() {
    if (carried_.size() > 0) {
      std::swap(blocks_.front().batch, carried_);
      encode(blocks_.front());
      add(blocks_.front());
    }
  }
  [[nodiscard]] std::uint64_t hash() const { return hash_.value(); }
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }

 private:
  struct Block {
    RunBlock batch;
    std::vector<std::byte> bytes;
  };
  void encode(Block& block) const {
    block.bytes.clear();
    BlockCodec::encode(block.batch, num_links_, block.bytes);
  }
  void add(const Block& block) {
    hash_.add(block.bytes);
    bytes_ += block.bytes.size();
  }

  std::uint32_t num_links_;
  ThreadPool& pool_;
  std::vector<Block> blocks_;
  /// Transfers of earlier windows that do not fill a block.
  RunBlock carried_;
  StreamHash hash_;
  std::uint64_t bytes_ = 0;
};

LogSource::Encoded encode_all(std::span<const LogPart> parts, ThreadPool& pool) {
  HashPass pass(parts.front().log->in_links().num_ids, pool);
  for (const LogPart& part : parts) {
    LogWindow window(part);
    while (window.next(pool)) {
      pass.add(window);
    }
  }
  pass.finish();
  return {pass.hash(), pass.bytes()};
}

}  // namespace

LogSource::LogSource(std::vector<LogPart> parts, const ThreadPool& pool)
    : parts_(std::move(parts)), threads_(pool.threads()) {}

LogSource::LogSource(std::vector<LogPart> parts, Encoded encoded)
    : parts_(std::move(parts)), threads_(0), encoded_(encoded) {}

const LogSource::Encoded& LogSource::encoded() const {
  if (threads_ > 0) {
    std::call_once(asked_, [&] {
      ThreadPool pool(threads_);
      encoded_ = encode_all(parts_, pool);
    });
  }
  return encoded_;
}

std::unique_ptr<TransferCursor> LogSource::cursor() const {
  return std::make_unique<LogCursor>(parts_);
}

std::unique_ptr<Stretches> LogSource::stretches(int threads) const {
  return make_log_stretches(parts_, threads);
}

std::unique_ptr<LinkLists> LogSource::link_lists(ThreadPool& pool) const {
  return is_quick_by_link(*parts_.front().log) ? make_log_lists(parts_, pool) : nullptr;
}

std::size_t LogSource::memory_bytes() const {
  std::size_t bytes = 0;
  for (const LogPart& part : parts_) {
    bytes += part.log->memory_bytes();
  }
  return bytes;
}

void LogSource::read_together(const std::function<void()>& read) const {
  std::vector<SharedLog> logs;
  for (const LogPart& part : parts_) {
    logs.push_back(part.log);
  }
  tacos::read_together(logs, read);
}

Schedule log_schedule(std::vector<LogPart> parts, Ticks collective_time, ThreadPool& pool) {
  Schedule::Totals totals{.collective_time = collective_time};
  for (const LogPart& part : parts) {
    totals.transfers += part.log->num_deliveries();
  }
  totals.moves = totals.transfers;
  if (parts.front().log->team() == nullptr) {
    return make_schedule(std::make_shared<LogSource>(std::move(parts), pool), totals);
  }
  // Who asks for the hash of what a team holds may be one of its members alone.
  const auto encoded =
      read_parts<LogSource::Encoded>(parts, [&] { return encode_all(parts, pool); });
  return make_schedule(std::make_shared<LogSource>(std::move(parts), encoded), totals);
}

}  // namespace tacos
