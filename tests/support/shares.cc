// SPDX-License-Identifier: MIT
#include "support/shares.h"

namespace tacos::test {
namespace {

Data share(const Collective& collective, std::uint32_t chunk, std::uint32_t participant) {
  return {{chunk, collective.reduces(ChunkId(chunk)) ? participant + 1 : 0}};
}

}  // namespace

Memory memory_at_start(const Collective& collective, bool in_place) {
  Memory memory(collective.num_participants());
  for (std::uint32_t c = 0; c < collective.num_chunks(); ++c) {
    for (std::uint32_t p = 0; p < collective.num_participants(); ++p) {
      if (collective.starts_with(ChunkId(c), p)) {
        memory[p][input_slot(collective, p, ChunkId(c), in_place)] = share(collective, c, p);
      }
    }
  }
  return memory;
}

std::string check_end(const Collective& collective, bool in_place, Memory& memory) {
  const bool gathered = collective.form() == CollectiveForm::kGathered;
  const auto chunks = static_cast<std::uint32_t>(collective.chunk_argument());
  for (std::uint32_t c = 0; c < collective.num_chunks(); ++c) {
    Data expected;
    for (std::uint32_t p = 0; p < collective.num_participants(); ++p) {
      const std::uint32_t part = gathered ? p * chunks + c % chunks : c;
      if (collective.starts_with(ChunkId(part), p) &&
          (gathered || collective.reduces(ChunkId(c)) || expected.empty())) {
        expected.merge(share(collective, part, p));
      }
    }
    for (std::uint32_t p = 0; p < collective.num_participants(); ++p) {
      if (collective.ends_with(ChunkId(c), p) &&
          memory[p][output_slot(collective, p, ChunkId(c), in_place)] != expected) {
        return "wrong";
      }
    }
  }
  return {};
}

}  // namespace tacos::test
