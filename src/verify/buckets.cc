// SPDX-License-Identifier: MIT
#include "verify/buckets.h"

namespace tacos {
namespace {

template <Sendable T>
void put_list(Packet& packet, const std::vector<T>& values) {
  put(packet, values.size());
  put_all(packet, std::span<const T>(values));
}

template <Sendable T>
void get_list(PacketReader& reader, std::vector<T>& values) {
  values.resize(reader.get<std::size_t>());
  reader.get_all(std::span<T>(values));
}

}  // namespace

void Bucket::add_run(Ticks start, Op op, Kind kind, std::size_t first, std::size_t count) {
  runs.push_back({.start = start,
                  .first = static_cast<std::uint32_t>(first),
                  .count = static_cast<std::uint32_t>(count),
                  .flight = static_cast<std::uint32_t>(flights.size()),
                  .op = op,
                  .kind = kind});
}

void Bucket::add(const Transfer& transfer, const Flight& flight, ChunkId chunk, bool fresh) {
  if (fresh) {
    add_run(transfer.start, transfer.op, Kind::kFlight, chunks.size(), 0);
    flights.push_back(flight);
  }
  ++runs.back().count;
  chunks.push_back(chunk);
}

void Bucket::add(const Transfer& transfer, const Passage& passage) {
  add_run(transfer.start, transfer.op, Kind::kPassages, passages.size(), 1);
  passages.push_back(passage);
}

void Bucket::clear() {
  runs.clear();
  moves.clear();
  uses.clear();
  flights.clear();
  chunks.clear();
  passages.clear();
  moves_in_runs_ = 0;
  uses_in_runs_ = 0;
}

void put_bucket(Packet& packet, const Bucket& bucket) {
  put_list(packet, bucket.runs);
  put_list(packet, bucket.moves);
  put_list(packet, bucket.uses);
  put_list(packet, bucket.flights);
  put_list(packet, bucket.chunks);
  put_list(packet, bucket.passages);
}

void get_bucket(PacketReader& reader, Bucket& bucket) {
  get_list(reader, bucket.runs);
  get_list(reader, bucket.moves);
  get_list(reader, bucket.uses);
  get_list(reader, bucket.flights);
  get_list(reader, bucket.chunks);
  get_list(reader, bucket.passages);
}

Slicing cut_slices(std::uint32_t first,
                   std::uint32_t count,
                   std::uint32_t least,
                   std::uint64_t bytes_each,
                   std::uint64_t most_bytes) {
  constexpr std::uint32_t kMostSlices = 256;
  Slicing slicing{.first = first, .count = count, .shift = 0};
  const auto good = [&](std::uint32_t shift) {
    return (count >> shift) >= least && (bytes_each << shift) <= most_bytes;
  };
  while (good(slicing.shift + 1) || slicing.num_slices() > std::max(least, kMostSlices)) {
    ++slicing.shift;
  }
  return slicing;
}

}  // namespace tacos
