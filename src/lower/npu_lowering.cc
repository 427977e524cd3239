// SPDX-License-Identifier: MIT
#include "lower/npu_lowering.h"

#include <algorithm>

namespace tacos::lowering {
namespace {

/// Calls visit(participant) for those who have a chunk in the end, if not all have all.
template <class Visit>
void for_each_holder(const Collective& collective, ChunkId chunk, const Visit& visit) {
  const auto all = collective.participants();
  switch (traits(collective.chunk_kind()).after) {
    case Holder::kEveryone:
      break;
    case Holder::kOwner:
      visit(collective.owner(chunk));
      break;
    case Holder::kRoot:
      visit(static_cast<std::uint32_t>(std::lower_bound(all.begin(), all.end(), collective.root()) -
                                       all.begin()));
      break;
    case Holder::kDestination:
      visit(chunk.value() / static_cast<std::uint32_t>(collective.chunk_argument()) %
            collective.num_participants());
      break;
    case Holder::kListed:
      for (const std::uint32_t p : collective.destinations(chunk)) {
        visit(p);
      }
      break;
  }
}

}  // namespace

NpuLowering::NpuLowering(std::uint32_t num_npus,
                         const Collective& collective,
                         bool in_place,
                         Scratch scratch)
    : collective_(collective),
      in_place_(in_place),
      scratch_(scratch),
      gathered_(collective.form() == CollectiveForm::kGathered),
      all_end_with_all_(traits(collective.chunk_kind()).after == Holder::kEveryone),
      participant_(num_npus, kNobody),
      ends_(collective.num_participants(),
            [&](const auto& add) {
              for (std::uint32_t chunk = 0; chunk < collective.num_chunks(); ++chunk) {
                for_each_holder(
                    collective, ChunkId(chunk), [&](std::uint32_t p) { add(p, chunk); });
              }
            }),
      places_(collective.num_chunks()) {
  for (std::uint32_t p = 0; p < collective.num_participants(); ++p) {
    participant_[collective.participants()[p].index()] = p;
  }
}

NpuProgram NpuLowering::write(NodeId npu, const NpuNotes& notes) {
  self_ = participant_[npu.index()];
  writer_.begin(takes_part() ? buffer_slots(collective_, self_, in_place_) : BufferSlots{},
                notes.lanes());
  if (adds()) {
    writer_.reserve_scratch(collective_.num_chunks());
  }
  for (const Note& note : notes.notes()) {
    places_[note.chunk()].sends += note.kind() == NoteKind::kSend ? 1 : 0;
  }
  const Dependency* wait = notes.waits().data();
  for (const Note& note : notes.notes()) {
    const ChunkId chunk(note.chunk());
    switch (note.kind()) {
      case NoteKind::kSend:
        send(note.lane(), chunk, note.waits() ? wait++ : nullptr);
        break;
      case NoteKind::kReceive:
      case NoteKind::kReceiveSum:
        receive(note.lane(), chunk, note.kind() == NoteKind::kReceiveSum);
        break;
      case NoteKind::kGrant:
        writer_.grant(note.lane(), wait++);
        break;
      case NoteKind::kAwait:
        writer_.await(note.lane());
        break;
    }
  }
  if (takes_part()) {
    finish();
  }
  forget_places(notes);
  return writer_.take();
}

Place& NpuLowering::place(ChunkId chunk) {
  Place& at = places_[chunk.index()];
  if (!at.known()) {
    if (takes_part() && collective_.starts_with(chunk, self_)) {
      at.put(input_slot(collective_, self_, chunk, in_place_));
    } else {
      at.clear();
    }
  }
  return at;
}

void NpuLowering::forget_places(const NpuNotes& notes) {
  for (const Note& note : notes.notes()) {
    places_[note.chunk()] = {};
  }
  for_each_result([&](ChunkId chunk) { places_[chunk.index()] = {}; });
}

template <class Visit>
void NpuLowering::for_each_result(const Visit& visit) const {
  if (!takes_part()) {
    return;
  }
  if (all_end_with_all_) {
    for (std::uint32_t chunk = 0; chunk < places_.size(); ++chunk) {
      visit(ChunkId(chunk));
    }
    return;
  }
  for (const std::uint32_t chunk : ends_[self_]) {
    visit(ChunkId(chunk));
  }
}

void NpuLowering::send(std::uint32_t lane, ChunkId chunk, const Dependency* awaited) {
  Place& from = place(chunk);
  const std::optional<Slot> slot = from.slot();
  TACOS_ASSERT(slot.has_value(), "a schedule that was verified sends what is there");
  writer_.send(lane, *slot, awaited);
  --from.sends;
  let_go(chunk, from);
}

void NpuLowering::receive(std::uint32_t lane, ChunkId chunk, bool sum) {
  Place& at = place(chunk);
  const Slot to = home(chunk, at);
  const std::optional<Slot> before = at.slot();
  if (sum && before) {
    writer_.receive_reduce(lane, *before, to);
  } else {
    writer_.receive(lane, to);
  }
  at.put(to);
  let_go(chunk, at);
}

Slot NpuLowering::home(ChunkId chunk, const Place& at) {
  if (ends_with(chunk)) {
    return gathered_ ? Slot{Buffer::kScratch, chunk.value()}
                     : output_slot(collective_, self_, chunk, in_place_);
  }
  const std::optional<Slot> slot = at.slot();
  return slot && slot->buffer == Buffer::kScratch ? *slot : writer_.take_scratch();
}

void NpuLowering::let_go(ChunkId chunk, Place& at) {
  if (at.sends > 0) {
    return;
  }
  const std::optional<Slot> slot = at.slot();
  if (slot && slot->buffer == Buffer::kScratch && !ends_with(chunk)) {
    if (scratch_ == Scratch::kReused) {
      writer_.give_back(*slot);
    }
    at.clear();
  }
}

void NpuLowering::finish() {
  if (gathered_) {
    if (adds()) {
      add_contributions();
    }
    return;
  }
  for_each_result([&](ChunkId chunk) { bring_home(chunk); });
}

void NpuLowering::bring_home(ChunkId chunk) {
  const std::optional<Slot> slot = place(chunk).slot();
  const Slot to = output_slot(collective_, self_, chunk, in_place_);
  if (slot && *slot != to) {
    writer_.copy(*slot, to);
  }
}

void NpuLowering::add_contributions() {
  const auto chunks = static_cast<std::uint32_t>(collective_.chunk_argument());
  for (std::uint32_t c = 0; c < chunks; ++c) {
    const ChunkId mine(self_ * chunks + c);
    const Slot sum = output_slot(collective_, self_, mine, in_place_);
    Slot from = *place(mine).slot();
    if (from == sum) {
      // The sum is written over the input.
      from = {Buffer::kScratch, mine.value()};
      writer_.copy(sum, from);
    }
    for (std::uint32_t p = 0; p < collective_.num_participants(); ++p) {
      const Slot part = p == self_ ? from : Slot{Buffer::kScratch, p * chunks + c};
      if (p == 0) {
        writer_.copy(part, sum);
      } else {
        writer_.reduce(part, sum);
      }
    }
  }
}

}  // namespace tacos::lowering
