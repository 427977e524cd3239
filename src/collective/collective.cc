// SPDX-License-Identifier: MIT
// What the collectives are: a row each, from which all else follows.
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

constexpr BufferExtent kWhole{.whole = true, .root_only = false};
constexpr BufferExtent kWholeAtRoot{.whole = true, .root_only = true};
constexpr BufferExtent kPart{.whole = false, .root_only = false};

constexpr double once(double /*n*/) {
  return 1;
}
constexpr double part_of_all(double n) {
  return (n - 1) / n;
}
constexpr double twice_part_of_all(double n) {
  return 2 * (n - 1) / n;
}

constexpr std::array kTraits{
    CollectiveTraits{.kind = CollectiveKind::kAllGather,
                     .name = "all-gather",
                     .chunks_per = ChunksPer::kParticipant,
                     .before = Holder::kOwner,
                     .after = Holder::kEveryone,
                     .reduces = false,
                     .reverse = CollectiveKind::kReduceScatter,
                     .input = kPart,
                     .output = kWhole,
                     .bus_factor = part_of_all},
    CollectiveTraits{.kind = CollectiveKind::kReduceScatter,
                     .name = "reduce-scatter",
                     .chunks_per = ChunksPer::kParticipant,
                     .before = Holder::kEveryone,
                     .after = Holder::kOwner,
                     .reduces = true,
                     .reverse = CollectiveKind::kAllGather,
                     .input = kWhole,
                     .output = kPart,
                     .bus_factor = part_of_all},
    CollectiveTraits{.kind = CollectiveKind::kAllReduce,
                     .name = "all-reduce",
                     .chunks_per = ChunksPer::kBuffer,
                     .before = Holder::kEveryone,
                     .after = Holder::kEveryone,
                     .reduces = true,
                     .reverse = CollectiveKind::kAllReduce,
                     .gathered = CollectiveKind::kAllGather,
                     .input = kWhole,
                     .output = kWhole,
                     .bus_factor = twice_part_of_all},
    CollectiveTraits{.kind = CollectiveKind::kBroadcast,
                     .name = "broadcast",
                     .chunks_per = ChunksPer::kBuffer,
                     .before = Holder::kRoot,
                     .after = Holder::kEveryone,
                     .reduces = false,
                     .reverse = CollectiveKind::kReduce,
                     .input = kWholeAtRoot,
                     .output = kWhole,
                     .bus_factor = once},
    CollectiveTraits{.kind = CollectiveKind::kReduce,
                     .name = "reduce",
                     .chunks_per = ChunksPer::kBuffer,
                     .before = Holder::kEveryone,
                     .after = Holder::kRoot,
                     .reduces = true,
                     .reverse = CollectiveKind::kBroadcast,
                     .gathered = CollectiveKind::kGather,
                     .input = kWhole,
                     .output = kWholeAtRoot,
                     .bus_factor = once},
    CollectiveTraits{.kind = CollectiveKind::kGather,
                     .name = "gather",
                     .chunks_per = ChunksPer::kParticipant,
                     .before = Holder::kOwner,
                     .after = Holder::kRoot,
                     .reduces = false,
                     .reverse = CollectiveKind::kScatter,
                     .input = kPart,
                     .output = kWholeAtRoot,
                     .bus_factor = part_of_all},
    CollectiveTraits{.kind = CollectiveKind::kScatter,
                     .name = "scatter",
                     .chunks_per = ChunksPer::kParticipant,
                     .before = Holder::kRoot,
                     .after = Holder::kOwner,
                     .reduces = false,
                     .reverse = CollectiveKind::kGather,
                     .input = kWholeAtRoot,
                     .output = kPart,
                     .bus_factor = part_of_all},
    CollectiveTraits{.kind = CollectiveKind::kAllToAll,
                     .name = "all-to-all",
                     .chunks_per = ChunksPer::kPair,
                     .before = Holder::kOwner,
                     .after = Holder::kDestination,
                     .reduces = false,
                     .reverse = CollectiveKind::kAllToAll,
                     .input = kWhole,
                     .output = kWhole,
                     .bus_factor = part_of_all},
};

constexpr auto kKinds = [] {
  std::array<CollectiveKind, kTraits.size()> kinds{};
  std::transform(kTraits.begin(), kTraits.end(), kinds.begin(), [](const CollectiveTraits& one) {
    return one.kind;
  });
  return kinds;
}();

/// Custom collectives say for every chunk who has it and whether it is a sum.
constexpr CollectiveTraits kCustomTraits{.kind = CollectiveKind::kCustom,
                                         .name = "custom",
                                         .chunks_per = ChunksPer::kBuffer,
                                         .before = Holder::kListed,
                                         .after = Holder::kListed,
                                         .reduces = false,
                                         .reverse = CollectiveKind::kCustom,
                                         .input = kWhole,
                                         .output = kWhole,
                                         .bus_factor = once};

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
    case Holder::kListed:
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
Result<ChunkTable> make_table(const CollectiveTraits& rule,
                              Bytes size,
                              std::int64_t chunks,
                              CollectiveForm form,
                              std::int64_t n) {
  if (size.count <= 0 || size.count > kMaxSizeBytes) {
    return input_error(fmt::format("a size of {} bytes is out of range", size.count));
  }
  if (chunks <= 0) {
    return input_error(fmt::format("{} chunks are too few; use 1 or more", chunks));
  }
  const bool gathered = form == CollectiveForm::kGathered;
  const std::int64_t buffers = rule.chunks_per == ChunksPer::kPair || gathered ? n : 1;
  if (size.count > kMaxSizeBytes / buffers) {
    return input_error(
        fmt::format("a size of {} for each of {} NPUs is out of range", format_size(size), n));
  }
  const std::int64_t factor = rule.chunks_per == ChunksPer::kBuffer || gathered ? 1 : n;
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

std::string_view to_string(CollectiveForm form) {
  return form == CollectiveForm::kGathered ? "gathered" : "direct";
}

Result<CollectiveForm> parse_collective_form(std::string_view name) {
  constexpr std::array kForms{CollectiveForm::kDirect, CollectiveForm::kGathered};
  std::array<std::string_view, kForms.size()> names;
  for (std::size_t i = 0; i < kForms.size(); ++i) {
    names[i] = to_string(kForms[i]);
    if (names[i] == name) {
      return kForms[i];
    }
  }
  return input_error(unknown_name("form", name, names));
}

std::string_view to_string(CollectiveKind kind) {
  return traits(kind).name;
}

Result<CollectiveKind> parse_collective_kind(std::string_view name) {
  std::array<std::string_view, kTraits.size()> names;
  for (std::size_t i = 0; i < kTraits.size(); ++i) {
    names[i] = kTraits[i].name;
    if (names[i] == name) {
      return kTraits[i].kind;
    }
  }
  return input_error(unknown_name("collective", name, names));
}

const CollectiveTraits& traits(CollectiveKind kind) {
  if (kind == CollectiveKind::kCustom) {
    return kCustomTraits;
  }
  for (const CollectiveTraits& one : kTraits) {
    if (one.kind == kind) {
      return one;
    }
  }
  assertion_failed("kind is in kTraits", "every collective has traits");
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
                                    std::optional<NodeId> root,
                                    CollectiveForm form) {
  TACOS_ASSERT(kind != CollectiveKind::kCustom, "custom collectives are made of their chunks");
  if (Status checked = check_participants(participants); !checked) {
    return checked.error();
  }
  if (form == CollectiveForm::kGathered && !traits(kind).gathered) {
    return input_error(
        fmt::format("{} has no gathered form; all-reduce and reduce have one", to_string(kind)));
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
      make_table(traits(kind), size, chunks, form, static_cast<std::int64_t>(participants.size()));
  if (!table) {
    return table.error();
  }
  made.kind_ = kind;
  made.form_ = form;
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

CollectiveKind Collective::chunk_kind() const {
  return form_ == CollectiveForm::kGathered ? *traits(kind_).gathered : kind_;
}

Collective Collective::direct() const {
  Collective made = *this;
  if (form_ == CollectiveForm::kGathered) {
    made.form_ = CollectiveForm::kDirect;
    made.table_ = ChunkTable(size_, num_chunks() / num_participants());
  }
  return made;
}

std::int64_t Collective::chunk_argument() const {
  const std::int64_t n = num_participants();
  switch (traits(chunk_kind()).chunks_per) {
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
  TACOS_ASSERT(traits(chunk_kind()).chunks_per != ChunksPer::kBuffer,
               "only chunks of a participant have an owner");
  return chunk.value() / (num_chunks() / num_participants());
}

bool Collective::starts_with(ChunkId chunk, std::uint32_t participant) const {
  return custom_ ? custom_->sources.has(chunk, participant)
                 : holds(*this, traits(chunk_kind()).before, chunk, participant);
}

bool Collective::ends_with(ChunkId chunk, std::uint32_t participant) const {
  return custom_ ? custom_->destinations.has(chunk, participant)
                 : holds(*this, traits(chunk_kind()).after, chunk, participant);
}

bool Collective::reduces(ChunkId chunk) const {
  return custom_ ? custom_->reduces[chunk.index()] != 0 : traits(chunk_kind()).reduces;
}

bool Collective::reduces() const {
  return custom_ ? custom_->any_reduces : traits(chunk_kind()).reduces;
}

double Collective::bus_factor() const {
  return traits(kind_).bus_factor(num_participants());
}

}  // namespace tacos
