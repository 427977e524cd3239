// SPDX-License-Identifier: MIT
// Which slots of a participant's buffers hold which chunks.
#include "tacos/program.h"

namespace tacos {
namespace {

/// Slots of a buffer, whole or a part, of the direct collective.
std::uint32_t slots_of(const Collective& collective, const BufferExtent& extent) {
  const CollectiveTraits& kind = traits(collective.kind());
  const auto chunks = static_cast<std::uint32_t>(collective.chunk_argument());
  const bool parts = kind.chunks_per != ChunksPer::kBuffer;
  return extent.whole && parts ? chunks * collective.num_participants() : chunks;
}

bool has(const Collective& collective, const BufferExtent& extent, std::uint32_t participant) {
  return !extent.root_only || collective.participants()[participant] == collective.root();
}

/// Whether the input is a part of the output, which is then at its offset there.
bool input_is_part(const CollectiveTraits& kind) {
  return !kind.input.whole && kind.output.whole;
}
bool output_is_part(const CollectiveTraits& kind) {
  return kind.input.whole && !kind.output.whole;
}

/// The number of a chunk in the whole of a buffer, or in the participant's part of it.
std::uint32_t number(const Collective& collective, const BufferExtent& extent, ChunkId chunk) {
  const auto chunks = static_cast<std::uint32_t>(collective.chunk_argument());
  if (collective.form() == CollectiveForm::kGathered) {
    return chunk.value() % chunks;
  }
  return extent.whole ? chunk.value() : chunk.value() % chunks;
}

}  // namespace

bool can_be_in_place(const Collective& collective) {
  const CollectiveTraits& kind = traits(collective.kind());
  return collective.kind() != CollectiveKind::kCustom && kind.chunks_per != ChunksPer::kPair;
}

BufferSlots buffer_slots(const Collective& collective, std::uint32_t participant, bool in_place) {
  const CollectiveTraits& kind = traits(collective.kind());
  const bool input = has(collective, kind.input, participant);
  const bool output = has(collective, kind.output, participant);
  BufferSlots slots{.input = input ? slots_of(collective, kind.input) : 0,
                    .output = output ? slots_of(collective, kind.output) : 0};
  if (in_place && input && output) {
    (output_is_part(kind) ? slots.output : slots.input) = 0;
  }
  return slots;
}

Slot input_slot(const Collective& collective,
                std::uint32_t participant,
                ChunkId chunk,
                bool in_place) {
  const CollectiveTraits& kind = traits(collective.kind());
  const auto chunks = static_cast<std::uint32_t>(collective.chunk_argument());
  if (kind.chunks_per == ChunksPer::kPair) {
    return {Buffer::kInput, chunk.value() % (chunks * collective.num_participants())};
  }
  const std::uint32_t index = number(collective, kind.input, chunk);
  const bool shared =
      in_place && has(collective, kind.output, participant) && !output_is_part(kind);
  if (!shared) {
    return {Buffer::kInput, index};
  }
  return {Buffer::kOutput, input_is_part(kind) ? participant * chunks + index : index};
}

Slot output_slot(const Collective& collective,
                 std::uint32_t participant,
                 ChunkId chunk,
                 bool in_place) {
  const CollectiveTraits& kind = traits(collective.kind());
  const auto chunks = static_cast<std::uint32_t>(collective.chunk_argument());
  if (kind.chunks_per == ChunksPer::kPair) {
    const std::uint32_t row = chunks * collective.num_participants();
    return {Buffer::kOutput, chunk.value() / row * chunks + chunk.value() % chunks};
  }
  const std::uint32_t index = number(collective, kind.output, chunk);
  if (in_place && output_is_part(kind) && has(collective, kind.input, participant)) {
    return {Buffer::kInput, participant * chunks + index};
  }
  return {Buffer::kOutput, index};
}

}  // namespace tacos
