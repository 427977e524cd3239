// SPDX-License-Identifier: MIT
// Collective files. What is read comes back when it is written.
#include "tacos/collective.h"

#include "fuzz/target.h"

namespace {

using namespace tacos;  // NOLINT(google-build-using-namespace)

constexpr std::uint32_t kNpus = 16;

void check(std::string_view text, std::optional<Bytes> size) {
  const Result<Collective> collective = parse_collective_json(text, "fuzz.json", kNpus, size);
  if (!collective) {
    fuzz::require_input_error(collective.error());
    return;
  }
  fuzz::require(collective->num_participants() <= kNpus && collective->num_chunks() > 0,
                "participants are NPUs, and there are chunks");
  std::int64_t bytes = 0;
  for (std::uint32_t c = 0; c < collective->num_chunks(); ++c) {
    const ChunkId chunk(c);
    fuzz::require(collective->chunks().bytes(chunk).count > 0, "a chunk has bytes");
    bytes += collective->chunks().bytes(chunk).count;
    for (const std::uint32_t participant : collective->sources(chunk)) {
      fuzz::require(collective->starts_with(chunk, participant), "sources start with the chunk");
    }
    for (const std::uint32_t participant : collective->destinations(chunk)) {
      fuzz::require(collective->ends_with(chunk, participant), "destinations end with the chunk");
    }
  }
  fuzz::require(bytes == collective->size().count, "chunks are the buffer");
  const Result<Collective> again =
      parse_collective_json(collective_to_json(*collective), "again.json", kNpus);
  fuzz::require(again && *again == *collective, "a collective comes back from its file");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = fuzz::text_of(data, size);
  check(text, std::nullopt);
  constexpr Bytes kSize{1'000};
  check(text, kSize);
  return 0;
}
