// SPDX-License-Identifier: MIT
// A new collective is a row in kRules.
#include "tacos/collective.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <system_error>

#include <fmt/format.h>

#include "base/assert.h"
#include "base/text/quantity.h"
#include "base/text/suggest.h"
#include "collective/custom_table.h"

namespace tacos {
namespace {

/// What `chunks` counts.
enum class ChunksPer { kBuffer, kParticipant, kPair };

/// Who has a chunk before or after. The destination is that of All-to-All.
enum class Holder { kEveryone, kOwner, kRoot, kDestination };

struct Rule {
  CollectiveKind kind;
  std::string_view name;
  ChunksPer chunks_per;
  Holder before;
  Holder after;
  bool reduces;
};

constexpr std::array kRules{
    Rule{CollectiveKind::kAllGather,
         "all-gather",
         ChunksPer::kParticipant,
         Holder::kOwner,
         Holder::kEveryone,
         false},
    Rule{CollectiveKind::kReduceScatter,
         "reduce-scatter",
         ChunksPer::kParticipant,
         Holder::kEveryone,
         Holder::kOwner,
         true},
    Rule{CollectiveKind::kAllReduce,
         "all-reduce",
         ChunksPer::kBuffer,
         Holder::kEveryone,
         Holder::kEveryone,
         true},
    Rule{CollectiveKind::kBroadcast,
         "broadcast",
         ChunksPer::kBuffer,
         Holder::kRoot,
         Holder::kEveryone,
         false},
    Rule{CollectiveKind::kReduce,
         "reduce",
         ChunksPer::kBuffer,
         Holder::kEveryone,
         Holder::kRoot,
         true},
    Rule{CollectiveKind::kGather,
         "gather",
         ChunksPer::kParticipant,
         Holder::kOwner,
         Holder::kRoot,
         false},
    Rule{CollectiveKind::kScatter,
         "scatter",
         ChunksPer::kParticipant,
         Holder::kRoot,
         Holder::kOwner,
         false},
    Rule{CollectiveKind::kAllToAll,
         "all-to-all",
         ChunksPer::kPair,
         Holder::kOwner,
         Holder::kDestination,
         false},
};

constexpr auto kKinds = [] {
  std::array<CollectiveKind, kRules.size()> kinds{};
  std::transform(
      kRules.begin(), kRules.end(), kinds.begin(), [](const Rule& rule) { return rule.kind; });
  return kinds;
}();

/// Custom collectives say for every chunk who has it; what is left of a rule.
constexpr Rule kCustomRule{CollectiveKind::kCustom,
                           "custom",
                           ChunksPer::kBuffer,
                           Holder::kEveryone,
                           Holder::kEveryone,
                           false};

const Rule& rule_of(CollectiveKind kind) {
  if (kind == CollectiveKind::kCustom) {
    return kCustomRule;
  }
  for (const Rule& rule : kRules) {
    if (rule.kind == kind) {
      return rule;
    }
  }
  assertion_failed("kind is in kRules", "every collective has a rule");
}

bool holds(const Collective& collective, Holder who, ChunkId chunk, std::uint32_t participant) {
  const std::uint32_t n = collective.num_participants();
  switch (who) {
    case Holder::kOwner:
      return collective.owner(chunk) == participant;
    case Holder::kRoot:
      return collective.root() == collective.participants()[participant];
    case Holder::kDestination:
      return chunk.value() / (collective.num_chunks() / n / n) % n == participant;
    case Holder::kEveryone:
      break;
  }
  return true;
}

Status check_participants(std::span<const NodeId> participants) {
  if (participants.empty()) {
    return input_error("a collective needs at least one participant");
  }
  for (std::size_t i = 1; i < participants.size(); ++i) {
    if (participants[i] <= participants[i - 1]) {
      return input_error(
          fmt::format("participant {} is repeated or out of order; list each NPU "
                      "once, in increasing order",
                      participants[i].value()));
    }
  }
  return ok();
}

/// What `size` and `chunks` amount to for n participants.
Result<ChunkTable> make_table(const Rule& rule, Bytes size, std::int64_t chunks, std::int64_t n) {
  if (size.count <= 0 || size.count > kMaxSizeBytes) {
    return input_error(fmt::format("a size of {} bytes is out of range", size.count));
  }
  if (chunks <= 0) {
    return input_error(fmt::format("{} chunks are too few; use 1 or more", chunks));
  }
  const std::int64_t buffers = rule.chunks_per == ChunksPer::kPair ? n : 1;
  if (size.count > kMaxSizeBytes / buffers) {
    return input_error(
        fmt::format("a size of {} for each of {} NPUs is out of range", format_size(size), n));
  }
  const std::int64_t factor = rule.chunks_per == ChunksPer::kBuffer ? 1 : n;
  if (size.count < factor) {
    return input_error(
        fmt::format("{} is too small to give each of {} NPUs a part; use {} B or more",
                    format_size(size),
                    n,
                    n));
  }
  if (chunks > std::min(kMaxChunks / buffers, size.count) / factor) {
    return input_error(
        fmt::format("{} cannot be cut into {} chunks{}; use fewer chunks or a larger size",
                    format_size(size),
                    format_count(static_cast<std::uint64_t>(chunks)),
                    factor > 1 ? fmt::format(" for each of {} NPUs", factor) : ""));
  }
  return ChunkTable(Bytes{size.count * buffers},
                    static_cast<std::uint32_t>(chunks * factor * buffers));
}

}  // namespace

std::span<const CollectiveKind> collective_kinds() {
  return kKinds;
}

std::string_view to_string(CollectiveKind kind) {
  return rule_of(kind).name;
}

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

bool is_rooted(CollectiveKind kind) {
  const Rule& rule = rule_of(kind);
  return rule.before == Holder::kRoot || rule.after == Holder::kRoot;
}

Result<CollectiveName> parse_collective_name(std::string_view text) {
  const std::size_t colon = text.find(':');
  const Result<CollectiveKind> kind = parse_collective_kind(text.substr(0, colon));
  if (!kind) {
    return kind.error();
  }
  if (colon == std::string_view::npos) {
    return CollectiveName{.kind = *kind, .root = std::nullopt};
  }
  const std::string_view digits = text.substr(colon + 1);
  if (!is_rooted(*kind)) {
    return input_error(fmt::format("{} has no root; leave out ':{}'", to_string(*kind), digits));
  }
  std::uint32_t root = 0;
  const auto [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), root);
  if (failure != std::errc() || end != digits.data() + digits.size() || !NodeId(root).valid()) {
    return input_error(fmt::format(
        "root '{}' is not the number of an NPU; write for example {}:0", digits, to_string(*kind)));
  }
  return CollectiveName{.kind = *kind, .root = NodeId(root)};
}

Result<Collective> Collective::make(CollectiveKind kind,
                                    Bytes size,
                                    std::int64_t chunks,
                                    std::vector<NodeId> participants,
                                    std::optional<NodeId> root) {
  TACOS_ASSERT(kind != CollectiveKind::kCustom, "custom collectives are made of their chunks");
  if (Status checked = check_participants(participants); !checked) {
    return checked.error();
  }
  Collective made;
  if (root) {
    const auto at = std::lower_bound(participants.begin(), participants.end(), *root);
    if (!is_rooted(kind)) {
      return input_error(fmt::format("{} has no root", to_string(kind)));
    }
    if (at == participants.end() || *at != *root) {
      return input_error(fmt::format("root {} takes no part in the collective", root->value()));
    }
    made.root_ = static_cast<std::uint32_t>(at - participants.begin());
  }
  const Result<ChunkTable> table =
      make_table(rule_of(kind), size, chunks, static_cast<std::int64_t>(participants.size()));
  if (!table) {
    return table.error();
  }
  made.kind_ = kind;
  made.size_ = size;
  made.table_ = *table;
  made.participants_ = std::move(participants);
  return made;
}

Result<Collective> Collective::over_all(CollectiveKind kind,
                                        Bytes size,
                                        std::int64_t chunks,
                                        std::uint32_t npus,
                                        std::optional<NodeId> root) {
  std::vector<NodeId> participants;
  participants.reserve(npus);
  for (std::uint32_t npu = 0; npu < npus; ++npu) {
    participants.emplace_back(npu);
  }
  return make(kind, size, chunks, std::move(participants), root);
}

std::int64_t Collective::chunk_argument() const {
  const std::int64_t n = num_participants();
  switch (rule_of(kind_).chunks_per) {
    case ChunksPer::kParticipant:
      return num_chunks() / n;
    case ChunksPer::kPair:
      return num_chunks() / n / n;
    case ChunksPer::kBuffer:
      break;
  }
  return num_chunks();
}

std::uint32_t Collective::owner(ChunkId chunk) const {
  TACOS_ASSERT(rule_of(kind_).chunks_per != ChunksPer::kBuffer,
               "only chunks of a participant have an owner");
  return chunk.value() / (num_chunks() / num_participants());
}

bool Collective::starts_with(ChunkId chunk, std::uint32_t participant) const {
  return custom_ ? custom_->sources.has(chunk, participant)
                 : holds(*this, rule_of(kind_).before, chunk, participant);
}

bool Collective::ends_with(ChunkId chunk, std::uint32_t participant) const {
  return custom_ ? custom_->destinations.has(chunk, participant)
                 : holds(*this, rule_of(kind_).after, chunk, participant);
}

bool Collective::reduces(ChunkId chunk) const {
  return custom_ ? custom_->reduces[chunk.index()] != 0 : rule_of(kind_).reduces;
}

bool Collective::reduces() const {
  return custom_ ? custom_->any_reduces : rule_of(kind_).reduces;
}

double Collective::bus_factor() const {
  const double n = num_participants();
  switch (kind_) {
    case CollectiveKind::kBroadcast:
    case CollectiveKind::kReduce:
    case CollectiveKind::kCustom:
      return 1.0;
    case CollectiveKind::kAllReduce:
      return 2.0 * (n - 1) / n;
    default:
      return (n - 1) / n;
  }
}

}  // namespace tacos
