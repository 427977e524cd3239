// SPDX-License-Identifier: MIT
#include "schedule/packed_schedule.h"

#include <memory>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "schedule/block_reader.h"
#include "schedule/builder.h"

namespace tacos {
namespace {

class NoTransfers final : public TransferSource {
 public:
  [[nodiscard]] std::unique_ptr<TransferCursor> cursor() const override {
    throw InternalError("internal error: the transfers are with another process");
  }
  [[nodiscard]] std::size_t memory_bytes() const override { return 0; }
  /// Whoever has them reads them alone.
  void read_together(const std::function<void()>& /*read*/) const override {}
};

void put_bytes(Packet& packet, std::span<const std::byte> bytes) {
  put(packet, bytes.size());
  put_all(packet, bytes);
}

}  // namespace

Packet pack_schedule(const Schedule& schedule, std::uint32_t num_links) {
  Packet packet;
  put(packet, schedule.totals());
  const Pattern* pattern = schedule.pattern();
  put(packet, pattern != nullptr);
  if (pattern != nullptr) {
    std::vector<std::byte> payload;
    encode_pattern(*pattern, payload);
    put_bytes(packet, payload);
    return packet;
  }
  BlockReader blocks(schedule, num_links, 1);
  for (;;) {
    TACOS_ASSERT(blocks.next().has_value(), "a schedule in memory is whole");
    if (blocks.size() == 0) {
      return packet;
    }
    put_bytes(packet, blocks.bytes());
  }
}

Schedule unpack_schedule(std::span<const std::byte> packed, const PatternLimits& limits) {
  PacketReader reader(packed);
  const auto totals = reader.get<Schedule::Totals>();
  if (reader.get<bool>()) {
    Result<Pattern> pattern = decode_pattern(reader.bytes(reader.get<std::size_t>()), limits);
    TACOS_ASSERT(pattern.has_value(), "a pattern that was packed can be unpacked");
    return {make_pattern_source(*std::move(pattern)), totals};
  }
  auto source = std::make_shared<BlockSource>(limits.links);
  while (!reader.empty()) {
    const auto block = reader.bytes(reader.get<std::size_t>());
    source->append({block.begin(), block.end()});
  }
  return {std::move(source), totals};
}

Schedule absent_schedule(const Schedule::Totals& totals) {
  return {std::make_shared<NoTransfers>(), totals};
}

}  // namespace tacos
