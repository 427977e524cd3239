// SPDX-License-Identifier: MIT
// O(transfers + chunks moved): blocks are decoded on another thread, while this one copies what is
// decoded to its place. Most of the time is the system's, which has to find the pages: a third
// thread takes them from the end, until both meet.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <thread>
#include <type_traits>
#include <utility>

#include "tacos/columns.h"

#include "base/memory/huge_vector.h"
#include "base/memory/populate.h"
#include "base/memory/room.h"
#include "schedule/read_ahead.h"

namespace tacos {
namespace {

/// An array that is filled from its beginning, and seldom longer than expected.
template <class T>
class Column {
 public:
  explicit Column(std::size_t expected) : values_(expected) {}

  [[nodiscard]] bool fits(std::size_t count) const { return size_ + count <= values_.size(); }
  /// Room for so many more, to be written at once.
  [[nodiscard]] T* extend(std::size_t count) {
    if (!fits(count)) {
      values_.resize(std::max(size_ + count, 2 * values_.size()));
    }
    T* const place = values_.data() + size_;
    size_ += count;
    return place;
  }
  template <class Value>
  void append(std::span<const Value> values) {
    static_assert(sizeof(Value) == sizeof(T) && std::is_trivially_copyable_v<Value>);
    T* const place = extend(values.size());
    if (!values.empty()) {
      std::memcpy(place, values.data(), values.size_bytes());
    }
  }
  /// Takes the memory of one of so many parts.
  void populate_part(std::size_t part, std::size_t parts) {
    const std::size_t begin = values_.size() / parts * part;
    const std::size_t end =
        part + 1 == parts ? values_.size() : values_.size() / parts * (part + 1);
    populate(values_.data() + begin, (end - begin) * sizeof(T));
  }
  [[nodiscard]] std::span<const T> values() const { return {values_.data(), size_}; }
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  HugeVector<T> values_;
  std::size_t size_ = 0;
};

struct Memory {
  explicit Memory(const Schedule::Totals& totals)
      : start(totals.transfers),
        op(totals.transfers),
        links(totals.transfers),
        chunks(totals.moves),
        first_link(0),
        first_chunk(0) {}

  Column<std::int64_t> start;
  Column<Op> op;
  Column<std::uint32_t> links;
  Column<std::uint32_t> chunks;
  /// Empty until there is a route, or chunks that share a transfer.
  Column<std::uint64_t> first_link;
  Column<std::uint64_t> first_chunk;
};

/// Takes the memory of the columns from the end, on a thread of its own. They must stay where they
/// are meanwhile.
class Populator {
 public:
  Populator(Memory& memory, int threads, std::uint64_t transfers) : transfers_(transfers) {
    // Below so many transfers a thread costs more than it saves.
    constexpr std::uint64_t kWorthAThread = 1'000'000;
    if (threads > 1 && transfers >= kWorthAThread) {
      thread_ = std::thread([this, &memory] { run(memory); });
    }
  }
  Populator(const Populator&) = delete;
  Populator& operator=(const Populator&) = delete;
  ~Populator() { stop(); }

  void stop() {
    reached(transfers_);
    if (thread_.joinable()) {
      thread_.join();
    }
  }

  /// So many transfers have their place, and all pages before it are taken.
  void reached(std::uint64_t transfers) { reached_.store(transfers, std::memory_order_relaxed); }

 private:
  void run(Memory& memory) {
    constexpr std::size_t kParts = 64;
    for (std::size_t part = kParts; part-- > 0;) {
      if (reached_.load(std::memory_order_relaxed) >= transfers_ / kParts * part) {
        return;
      }
      memory.start.populate_part(part, kParts);
      memory.op.populate_part(part, kParts);
      memory.links.populate_part(part, kParts);
      memory.chunks.populate_part(part, kParts);
    }
  }

  std::uint64_t transfers_;
  std::atomic<std::uint64_t> reached_ = 0;
  std::thread thread_;
};

/// What all transfers up to now have had, one each.
void count_up(Column<std::uint64_t>& first, std::size_t count) {
  std::uint64_t* const place = first.extend(count);
  for (std::size_t i = 0; i < count; ++i) {
    place[i] = i;
  }
}

void add(Memory& memory, const TransferBatch& batch) {
  if (!batch.simple() && memory.first_link.size() == 0) {
    count_up(memory.first_link, memory.start.size());
    count_up(memory.first_chunk, memory.start.size());
  }
  if (memory.first_link.size() > 0 || !batch.simple()) {
    std::uint64_t link = memory.links.size();
    std::uint64_t chunk = memory.chunks.size();
    std::uint64_t* const links = memory.first_link.extend(batch.size());
    std::uint64_t* const chunks = memory.first_chunk.extend(batch.size());
    for (std::size_t i = 0; i < batch.size(); ++i) {
      const Transfer transfer = batch[i];
      links[i] = link;
      chunks[i] = chunk;
      link += transfer.links.size();
      chunk += transfer.chunks.size();
    }
  }
  memory.start.append(batch.starts());
  memory.op.append(batch.ops());
  memory.links.append(batch.links());
  memory.chunks.append(batch.chunks());
}

/// The end of the last one.
void finish(Memory& memory) {
  if (memory.first_link.size() > 0) {
    *memory.first_link.extend(1) = memory.links.size();
    *memory.first_chunk.extend(1) = memory.chunks.size();
  }
}

}  // namespace

Result<ScheduleColumns> read_columns(const Schedule& schedule, int threads) {
  const Schedule::Totals& totals = schedule.totals();
  constexpr std::uint64_t kMost = std::uint64_t{1} << 40U;
  if (Status room = check_memory_room(
          13 * std::min(totals.transfers, kMost) + 4 * std::min(totals.moves, kMost),
          std::nullopt,
          "read the transfers one after the other instead",
          "the columns of the schedule");
      !room) {
    return room.error();
  }
  auto memory = std::make_shared<Memory>(totals);
  {
    Populator populator(*memory, threads, totals.transfers);
    const Status read = read_batches(schedule, threads, [&](const TransferBatch& batch) {
      if (!memory->links.fits(batch.links().size())) {
        // Routes, of which nobody knows how long they are.
        populator.stop();
      }
      add(*memory, batch);
      populator.reached(memory->start.size());
      return ok();
    });
    if (!read) {
      return read.error();
    }
  }
  finish(*memory);
  return ScheduleColumns{.start = memory->start.values(),
                         .op = memory->op.values(),
                         .links = memory->links.values(),
                         .chunks = memory->chunks.values(),
                         .first_link = memory->first_link.values(),
                         .first_chunk = memory->first_chunk.values(),
                         .memory = memory};
}

}  // namespace tacos
