// SPDX-License-Identifier: MIT
#include "export/runtimes/slot_uses.h"

#include <array>
#include <optional>

namespace tacos::exporting {
namespace {

/// Who used a slot last.
struct Use {
  std::optional<std::uint32_t> written;
  std::vector<std::uint32_t> read;
};

struct NpuUses {
  /// By buffer and index.
  std::array<std::vector<Use>, 3> uses;
  /// By scratch slot of the program, where its contents are.
  std::vector<std::optional<std::uint32_t>> scratch;
  std::uint32_t taken = 0;

  [[nodiscard]] Use& use_of(const Slot& slot) {
    std::vector<Use>& buffer = uses[static_cast<std::size_t>(slot.buffer)];
    if (slot.index >= buffer.size()) {
      buffer.resize(slot.index + 1);
    }
    return buffer[slot.index];
  }
  /// Where a slot of the program is; `fresh` when new contents begin there.
  [[nodiscard]] Slot place_of(const Slot& slot, bool fresh) {
    if (slot.buffer != Buffer::kScratch) {
      return slot;
    }
    if (slot.index >= scratch.size()) {
      scratch.resize(slot.index + 1);
    }
    std::optional<std::uint32_t>& at = scratch[slot.index];
    if (fresh || !at) {
      at = taken++;
    }
    return {Buffer::kScratch, *at};
  }
};

}  // namespace

SlotUses use_slots(const Program& program, const Beats& beats) {
  const std::size_t steps = beats.steps.size();
  SlotUses made;
  made.from.resize(steps);
  made.to.resize(steps);
  made.first.resize(steps);
  made.count.resize(steps);
  std::vector<NpuUses> npus(program.npus.size());
  for (const std::uint32_t id : beats.order) {
    const Step& step = *beats.steps[id].step;
    NpuUses& here = npus[beats.steps[id].npu];
    if (reads(step.kind)) {
      made.from[id] = here.place_of(step.from, false);
      here.use_of(made.from[id]).read.push_back(id);
    }
    if (!writes(step.kind)) {
      continue;
    }
    const bool goes_on = step.kind == StepKind::kReduce ||
                         (step.kind == StepKind::kReceiveReduce && step.from == step.to);
    made.to[id] = here.place_of(step.to, !goes_on);
    Use& use = here.use_of(made.to[id]);
    made.first[id] = static_cast<std::uint32_t>(made.others.size());
    if (use.written) {
      made.others.push_back(*use.written);
    }
    for (const std::uint32_t other : use.read) {
      if (other != id) {
        made.others.push_back(other);
      }
    }
    made.count[id] = static_cast<std::uint32_t>(made.others.size()) - made.first[id];
    use.written = id;
    use.read.clear();
  }
  for (const NpuUses& npu : npus) {
    made.scratch.push_back(npu.taken);
  }
  return made;
}

}  // namespace tacos::exporting
