// SPDX-License-Identifier: MIT
#include "schedule/packed_schedule.h"

#include <memory>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "schedule/blocks/block_reader.h"
#include "schedule/builder.h"
#include "schedule/patterns/orbits.h"
#include "schedule/periodic/timetable.h"
#include "schedule/source.h"

namespace tacos {
namespace {

/// Ends before it begins.
class NoStretches final : public Stretches {
 public:
  [[nodiscard]] Result<bool> next(std::uint64_t /*most*/) override { return false; }
  [[nodiscard]] std::size_t num_strips() const override { return 0; }
  [[nodiscard]] bool links_keep_to_strips() const override { return true; }
  [[nodiscard]] Status read(std::size_t /*strip*/, StripSink& /*sink*/) override { return ok(); }
};

class NoTransfers final : public TransferSource {
 public:
  [[nodiscard]] std::unique_ptr<TransferCursor> cursor() const override {
    throw InternalError("internal error: the transfers are with another process");
  }
  [[nodiscard]] std::unique_ptr<Stretches> stretches(int /*threads*/) const override {
    return std::make_unique<NoStretches>();
  }
  [[nodiscard]] bool whole() const override { return false; }
  [[nodiscard]] std::size_t memory_bytes() const override { return 0; }
  /// Whoever has them reads them alone.
  void read_together(const std::function<void()>& /*read*/) const override {}
};

/// What follows the totals.
enum class Form : std::uint8_t { kBlocks, kPattern, kOrbits, kTimetable };

void put_bytes(Packet& packet, std::span<const std::byte> bytes) {
  put(packet, bytes.size());
  put_all(packet, bytes);
}

std::shared_ptr<const TransferSource> unpack_blocks(PacketReader& reader, std::uint32_t num_links) {
  auto source = std::make_shared<BlockSource>(num_links);
  while (!reader.empty()) {
    const auto block = reader.bytes(reader.get<std::size_t>());
    source->append({block.begin(), block.end()});
  }
  return source;
}

void pack_blocks(const Schedule& schedule, std::uint32_t num_links, Packet& packet) {
  BlockReader blocks(schedule, num_links, 1);
  for (;;) {
    TACOS_ASSERT(blocks.next().has_value(), "a schedule in memory is whole");
    if (blocks.size() == 0) {
      return;
    }
    put_bytes(packet, blocks.bytes());
  }
}

}  // namespace

Packet pack_schedule(const Schedule& schedule, std::uint32_t num_links) {
  Packet packet;
  put(packet, schedule.totals());
  std::vector<std::byte> payload;
  std::visit(Overloaded{[&](const Pattern* pattern) {
                          put(packet, Form::kPattern);
                          encode_pattern(*pattern, payload);
                          put_bytes(packet, payload);
                        },
                        [&](const OrbitPattern* pattern) {
                          put(packet, Form::kOrbits);
                          encode_orbits(*pattern, payload);
                          put_bytes(packet, payload);
                        },
                        [&](const Timetable* timetable) {
                          put(packet, Form::kTimetable);
                          encode_timetable(*timetable, payload);
                          put_bytes(packet, payload);
                        },
                        [&](Listed) {
                          put(packet, Form::kBlocks);
                          pack_blocks(schedule, num_links, packet);
                        }},
             source_of(schedule).form());
  return packet;
}

Schedule unpack_schedule(std::span<const std::byte> packed, const PatternLimits& limits) {
  PacketReader reader(packed);
  const auto totals = reader.get<Schedule::Totals>();
  const auto form = reader.get<Form>();
  if (form == Form::kBlocks) {
    return make_schedule(unpack_blocks(reader, limits.links), totals);
  }
  const auto payload = reader.bytes(reader.get<std::size_t>());
  if (form == Form::kPattern) {
    Result<Pattern> pattern = decode_pattern(payload, limits);
    TACOS_ASSERT(pattern.has_value(), "a pattern that was packed can be unpacked");
    return make_schedule(make_pattern_source(*std::move(pattern)), totals);
  }
  if (form == Form::kTimetable) {
    Result<Timetable> timetable = decode_timetable(payload, limits);
    TACOS_ASSERT(timetable.has_value(), "a timetable that was packed can be unpacked");
    return make_schedule(make_periodic_source(*std::move(timetable)), totals);
  }
  Result<OrbitPattern> orbits = decode_orbits(payload, limits);
  TACOS_ASSERT(orbits.has_value(), "orbits that were packed can be unpacked");
  return make_schedule(make_orbit_source(*std::move(orbits)), totals);
}

Schedule absent_schedule(const Schedule::Totals& totals) {
  return make_schedule(std::make_shared<NoTransfers>(), totals);
}

}  // namespace tacos
