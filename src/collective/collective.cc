// SPDX-License-Identifier: MIT
// A new collective is a row in kRules and a case in starts_with / ends_with.
#include "tacos/collective.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/assert.h"
#include "base/quantity.h"
#include "base/suggest.h"

namespace tacos {
namespace {

struct Rule {
  CollectiveKind kind;
  std::string_view name;
  /// Whether chunks are counted per participant, or over the whole buffer.
  bool chunks_per_participant;
};

constexpr std::array kRules{
    Rule{CollectiveKind::kAllGather, "all-gather", true},
    Rule{CollectiveKind::kReduceScatter, "reduce-scatter", true},
    Rule{CollectiveKind::kAllReduce, "all-reduce", false},
};

constexpr auto kKinds = [] {
  std::array<CollectiveKind, kRules.size()> kinds{};
  std::transform(
      kRules.begin(), kRules.end(), kinds.begin(), [](const Rule& rule) { return rule.kind; });
  return kinds;
}();

const Rule& rule_of(CollectiveKind kind) {
  for (const Rule& rule : kRules) {
    if (rule.kind == kind) {
      return rule;
    }
  }
  assertion_failed("kind is in kRules", "every collective has a rule");
}

}  // namespace

std::span<const CollectiveKind> collective_kinds() { return kKinds; }

std::string_view to_string(CollectiveKind kind) { return rule_of(kind).name; }

Result<CollectiveKind> parse_collective_kind(std::string_view name) {
  std::array<std::string_view, kRules.size()> names;
  for (std::size_t i = 0; i < kRules.size(); ++i) {
    names[i] = kRules[i].name;
    if (names[i] == name) {
      return kRules[i].kind;
    }
  }
  return input_error(unknown_name("collective", name, names));
}

Result<Collective> Collective::make(CollectiveKind kind,
                                    Bytes size,
                                    std::int64_t chunks,
                                    std::vector<NodeId> participants) {
  if (participants.empty()) {
    return input_error("a collective needs at least one participant");
  }
  for (std::size_t i = 1; i < participants.size(); ++i) {
    if (participants[i] <= participants[i - 1]) {
      return input_error(fmt::format("participant {} is repeated or out of order; list each NPU "
                                     "once, in increasing order",
                                     participants[i].value()));
    }
  }
  if (size.count <= 0 || size.count > kMaxSizeBytes) {
    return input_error(fmt::format("a size of {} bytes is out of range", size.count));
  }
  if (chunks <= 0) {
    return input_error(fmt::format("{} chunks are too few; use 1 or more", chunks));
  }
  const std::int64_t factor = rule_of(kind).chunks_per_participant
                                  ? static_cast<std::int64_t>(participants.size())
                                  : std::int64_t{1};
  const std::int64_t most = std::min(kMaxChunks, size.count);
  if (chunks > most / factor) {
    return input_error(
        fmt::format("{} cannot be cut into {} chunks{}; use fewer chunks or a larger size",
                    format_size(size),
                    format_count(static_cast<std::uint64_t>(chunks)),
                    factor > 1 ? fmt::format(" for each of {} NPUs", factor) : ""));
  }
  Collective made;
  made.kind_ = kind;
  made.table_ = ChunkTable(size, static_cast<std::uint32_t>(chunks * factor));
  made.participants_ = std::move(participants);
  return made;
}

Result<Collective> Collective::over_all(CollectiveKind kind,
                                        Bytes size,
                                        std::int64_t chunks,
                                        std::uint32_t npus) {
  std::vector<NodeId> participants;
  participants.reserve(npus);
  for (std::uint32_t npu = 0; npu < npus; ++npu) {
    participants.emplace_back(npu);
  }
  return make(kind, size, chunks, std::move(participants));
}

std::int64_t Collective::chunk_argument() const {
  return rule_of(kind_).chunks_per_participant ? num_chunks() / num_participants() : num_chunks();
}

std::uint32_t Collective::owner(ChunkId chunk) const {
  TACOS_ASSERT(rule_of(kind_).chunks_per_participant, "only chunks of a participant have an owner");
  return chunk.value() / (num_chunks() / num_participants());
}

bool Collective::starts_with(ChunkId chunk, std::uint32_t participant) const {
  return kind_ != CollectiveKind::kAllGather || owner(chunk) == participant;
}

bool Collective::ends_with(ChunkId chunk, std::uint32_t participant) const {
  return kind_ != CollectiveKind::kReduceScatter || owner(chunk) == participant;
}

double Collective::bus_factor() const {
  const double n = num_participants();
  return (kind_ == CollectiveKind::kAllReduce ? 2.0 : 1.0) * (n - 1) / n;
}

}  // namespace tacos
