// SPDX-License-Identifier: MIT
#include "repair/snapshot.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "base/csr.h"
#include "base/numbers/bits.h"
#include "schedule/read_ahead.h"
#include "topology/restore.h"

namespace tacos::repairing {
namespace {

constexpr std::uint32_t kGone = std::numeric_limits<std::uint32_t>::max();

/// A transfer that brings a chunk somewhere.
struct Arrival {
  Ticks time;
  std::uint32_t transfer = 0;

  friend auto operator<=>(const Arrival&, const Arrival&) = default;
};

class Camera {
 public:
  Camera(const Bundle& before, const Topology& now, std::span<const NodeId> left, Ticks at)
      : before_(before),
        collective_(before.collective),
        now_(now),
        at_(at),
        lives_(now.num_npus(), true),
        words_((collective_.num_participants() + 63) / 64),
        number_(collective_.num_chunks(), kGone),
        has_(std::size_t{now.num_npus()} * collective_.num_chunks(), false) {
    for (std::uint32_t npu = 0; npu < now.num_npus(); ++npu) {
      lives_[npu] = std::binary_search(left.begin(), left.end(), NodeId(npu)) ||
                    !has_failed(now, NodeId(npu));
    }
    for (const NodeId npu : collective_.participants()) {
      lives_[npu.index()] = std::binary_search(left.begin(), left.end(), npu);
    }
  }

  Result<Snapshot> run() {
    const Status read = read_batches(before_.schedule, 1, [&](const TransferBatch& batch) {
      all_.append(batch, 0, batch.size());
      return ok();
    });
    if (!read) {
      return read.error();
    }
    end_.reserve(all_.size());
    for (std::size_t i = 0; i < all_.size(); ++i) {
      const Transfer transfer = all_[i];
      end_.push_back(transfer.start + route_time(before_.topology,
                                                 transfer.links,
                                                 collective_.chunks().bytes(transfer.chunks)));
    }
    of_chunk_ = {collective_.num_chunks(), [&](const auto& add) {
                   for (std::uint32_t i = 0; i < all_.size(); ++i) {
                     for (const ChunkId chunk : all_[i].chunks) {
                       add(chunk.index(), i);
                     }
                   }
                 }};
    for (std::uint32_t chunk = 0; chunk < collective_.num_chunks(); ++chunk) {
      collective_.reduces(ChunkId(chunk)) ? look_at_sum(ChunkId(chunk))
                                          : look_at_copies(ChunkId(chunk));
    }
    for (std::uint32_t i = 0; i < all_.size(); ++i) {
      sort_out(i);
    }
    return std::move(taken_);
  }

 private:
  [[nodiscard]] NodeId src(std::uint32_t transfer) const {
    return now_.link(all_[transfer].links.front()).src;
  }
  [[nodiscard]] NodeId dst(std::uint32_t transfer) const {
    return now_.link(all_[transfer].links.back()).dst;
  }
  [[nodiscard]] std::size_t place(NodeId npu, ChunkId chunk) const {
    return npu.index() * collective_.num_chunks() + chunk.index();
  }
  [[nodiscard]] std::vector<NodeId> needed_by(ChunkId chunk) const {
    std::vector<NodeId> npus;
    for (std::uint32_t i = 0; i < collective_.num_participants(); ++i) {
      const NodeId npu = collective_.participants()[i];
      if (lives_[npu.index()] && collective_.ends_with(chunk, i)) {
        npus.push_back(npu);
      }
    }
    return npus;
  }

  void add_chunk(ChunkId chunk, CustomChunk left, std::optional<Hub> hub) {
    if (left.sources.empty() || left.destinations.empty()) {
      return;
    }
    left.bytes = collective_.chunks().bytes(chunk);
    number_[chunk.index()] = static_cast<std::uint32_t>(taken_.chunks.size());
    for (const NodeId npu : left.sources) {
      has_[place(npu, chunk)] = true;
    }
    taken_.chunks.push_back(std::move(left));
    taken_.hubs.push_back(hub);
  }

  /// One that was nobody's who is left is gone with those who had it at first.
  void look_at_copies(ChunkId chunk) {
    std::vector<NodeId> holders;
    for (std::uint32_t i = 0; i < collective_.num_participants(); ++i) {
      const NodeId npu = collective_.participants()[i];
      if (lives_[npu.index()] && collective_.starts_with(chunk, i)) {
        holders.push_back(npu);
      }
    }
    if (holders.empty()) {
      return;
    }
    for (const std::uint32_t i : of_chunk_[chunk.index()]) {
      if (end_[i] <= at_ && lives_[dst(i).index()]) {
        holders.push_back(dst(i));
      }
    }
    std::sort(holders.begin(), holders.end());
    holders.erase(std::unique(holders.begin(), holders.end()), holders.end());
    add_chunk(chunk,
              {.bytes = {},
               .sources = std::move(holders),
               .destinations = needed_by(chunk),
               .reduces = false},
              std::nullopt);
  }

  using Words = std::span<std::uint64_t>;
  [[nodiscard]] Words shares(NodeId npu) {
    return std::span(shares_).subspan(npu.index() * words_, words_);
  }

  void look_at_sum(ChunkId chunk) {
    shares_.assign(now_.num_npus() * words_, 0);
    whole_.assign(words_, 0);
    wanted_.assign(words_, 0);
    for (std::uint32_t i = 0; i < collective_.num_participants(); ++i) {
      if (!collective_.starts_with(chunk, i)) {
        continue;
      }
      const NodeId npu = collective_.participants()[i];
      const std::uint64_t bit = std::uint64_t{1} << i % 64;
      shares(npu)[i / 64] |= bit;
      whole_[i / 64] |= bit;
      wanted_[i / 64] |= lives_[npu.index()] ? bit : 0;
    }
    arrivals_.clear();
    for (const std::uint32_t i : of_chunk_[chunk.index()]) {
      arrivals_.push_back({.time = end_[i], .transfer = i});
    }
    std::sort(arrivals_.begin(), arrivals_.end());
    std::size_t next = 0;
    while (next < arrivals_.size() && arrivals_[next].time <= at_) {
      next = arrive(next);
    }
    CustomChunk left{
        .bytes = {}, .sources = {}, .destinations = needed_by(chunk), .reduces = false};
    for (std::uint32_t npu = 0; npu < now_.num_npus(); ++npu) {
      if (lives_[npu] && std::ranges::equal(shares(NodeId(npu)), wanted_)) {
        left.sources.emplace_back(npu);
      }
    }
    std::optional<Hub> hub;
    if (left.sources.empty() && !left.destinations.empty()) {
      left.reduces = true;
      left.sources = parts();
      hub = find_hub(next);
    }
    add_chunk(chunk, std::move(left), hub);
  }

  /// All that arrives at one time; what is sent is the value from before. Returns the next.
  std::size_t arrive(std::size_t first) {
    std::size_t last = first;
    sent_.clear();
    for (; last < arrivals_.size() && arrivals_[last].time == arrivals_[first].time; ++last) {
      const Words value = shares(src(arrivals_[last].transfer));
      sent_.insert(sent_.end(), value.begin(), value.end());
    }
    for (std::size_t i = first; i < last; ++i) {
      const Words value = std::span(sent_).subspan((i - first) * words_, words_);
      const Words target = shares(dst(arrivals_[i].transfer));
      const bool adds = all_[arrivals_[i].transfer].op == Op::kReduce;
      for (std::size_t word = 0; word < words_; ++word) {
        target[word] = (adds ? target[word] : 0) | value[word];
      }
    }
    return last;
  }

  std::optional<Hub> find_hub(std::size_t next) {
    while (next < arrivals_.size()) {
      const std::size_t last = arrive(next);
      for (; next < last; ++next) {
        const NodeId npu = dst(arrivals_[next].transfer);
        if (std::ranges::equal(shares(npu), whole_)) {
          return lives_[npu.index()] ? std::optional(Hub{npu, arrivals_[next].time}) : std::nullopt;
        }
      }
    }
    return std::nullopt;
  }

  /// NPUs whose parts make up the sum: the largest first, then who has to begin again.
  std::vector<NodeId> parts() {
    std::vector<std::pair<std::uint64_t, NodeId>> by_size;
    for (std::uint32_t npu = 0; npu < now_.num_npus(); ++npu) {
      const Words part = shares(NodeId(npu));
      bool spoiled = !lives_[npu];
      for (std::size_t word = 0; word < words_; ++word) {
        spoiled |= (part[word] & ~wanted_[word]) != 0;
      }
      if (const std::uint64_t size = count_bits(part); size > 0 && !spoiled) {
        by_size.emplace_back(size, npu);
      }
    }
    std::stable_sort(by_size.begin(), by_size.end(), [](const auto& a, const auto& b) {
      return a.first > b.first;
    });
    std::vector<NodeId> chosen;
    std::vector<std::uint64_t> missing = wanted_;
    for (const auto& [size, npu] : by_size) {
      const Words part = shares(npu);
      bool fits = true;
      for (std::size_t word = 0; word < words_; ++word) {
        fits &= (part[word] & ~missing[word]) == 0;
      }
      for (std::size_t word = 0; fits && word < words_; ++word) {
        missing[word] &= ~part[word];
      }
      if (fits) {
        chosen.push_back(npu);
      }
    }
    if (count_bits(missing) > 0) {
      ++taken_.restarted_sums;
      begin_again(missing, chosen);
    }
    std::sort(chosen.begin(), chosen.end());
    return chosen;
  }

  /// Those whose shares are missing give their inputs; all do where one has a part of others.
  void begin_again(std::span<const std::uint64_t> missing, std::vector<NodeId>& chosen) const {
    const auto add_inputs = [&](std::span<const std::uint64_t> of) {
      for (std::uint32_t i = 0; i < collective_.num_participants(); ++i) {
        if ((of[i / 64] >> i % 64 & 1U) != 0) {
          chosen.push_back(collective_.participants()[i]);
        }
      }
    };
    add_inputs(missing);
    std::vector<NodeId> sorted = chosen;
    std::sort(sorted.begin(), sorted.end());
    if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) {
      chosen.clear();
      add_inputs(wanted_);
    }
  }

  /// What becomes of a transfer: done, under way, or left to do.
  void sort_out(std::uint32_t i) {
    const Transfer transfer = all_[i];
    if (end_[i] <= at_) {
      taken_.arrived_moves += transfer.chunks.size();
      return;
    }
    const bool begun = transfer.start < at_;
    const bool works = std::none_of(transfer.links.begin(), transfer.links.end(), [&](LinkId link) {
      return now_.failed(link);
    });
    taken_.lost_moves += begun && !works ? transfer.chunks.size() : 0;
    std::vector<ChunkId> on;
    std::vector<ChunkId> copies;
    std::vector<ChunkId> sums;
    for (const ChunkId chunk : transfer.chunks) {
      const std::uint32_t number = number_[chunk.index()];
      if (number == kGone) {
        continue;
      }
      const bool in_parts = taken_.chunks[number].reduces;
      if (transfer.op == Op::kReduce) {
        if (in_parts) {
          sums.emplace_back(number);
        }
      } else if (begun && works && !in_parts && has_[place(src(i), chunk)]) {
        on.emplace_back(number);
      } else {
        copies.emplace_back(number);
      }
    }
    taken_.under_way_moves += on.size();
    append(on, i, taken_.under_way);
    append(copies, i, taken_.copies);
    append(sums, i, taken_.sums);
  }
  void append(std::span<const ChunkId> chunks, std::uint32_t i, TransferBatch& to) const {
    if (chunks.empty()) {
      return;
    }
    Transfer transfer = all_[i];
    if (&to == &taken_.under_way) {
      // Alone they would be there sooner than together with what does not count.
      const Ticks takes = route_time(now_, transfer.links, bytes_left(chunks));
      transfer.start = std::max(transfer.start, end_[i] - takes);
    }
    transfer.chunks = chunks;
    to.append(transfer);
  }
  [[nodiscard]] Bytes bytes_left(std::span<const ChunkId> chunks) const {
    return {std::accumulate(
        chunks.begin(), chunks.end(), std::int64_t{0}, [&](std::int64_t sum, ChunkId chunk) {
          return sum + taken_.chunks[chunk.index()].bytes.count;
        })};
  }

  const Bundle& before_;
  const Collective& collective_;
  const Topology& now_;
  Ticks at_;
  std::vector<bool> lives_;
  std::size_t words_;
  TransferBatch all_;
  /// When each of them has arrived.
  std::vector<Ticks> end_;
  Csr<std::uint32_t> of_chunk_;
  /// Of each chunk its place among those that are left.
  std::vector<std::uint32_t> number_;
  /// By NPU and chunk: whether it is one of the chunk's sources now.
  std::vector<bool> has_;
  /// Of the sum that is looked at: the shares of each NPU, all, and those of NPUs that are left; a
  /// bit for each participant.
  std::vector<std::uint64_t> shares_;
  std::vector<std::uint64_t> whole_;
  std::vector<std::uint64_t> wanted_;
  std::vector<Arrival> arrivals_;
  std::vector<std::uint64_t> sent_;
  Snapshot taken_;
};

}  // namespace

bool can_be_looked_at(const Bundle& bundle) {
  // As many moves as can be kept (keep.cc); a bit for each place, 8 MiB; and of sums a bit for each
  // place and participant is looked at, one sum after the other: 2^31 words, seconds.
  constexpr std::uint64_t kMostMoves = std::uint64_t{1} << 22U;
  constexpr std::uint64_t kMostPlaces = std::uint64_t{1} << 26U;
  constexpr std::uint64_t kMostShares = std::uint64_t{1} << 37U;
  const std::uint64_t places =
      std::uint64_t{bundle.topology.num_npus()} * bundle.collective.num_chunks();
  return bundle.schedule.num_moves() <= kMostMoves && places <= kMostPlaces &&
         (!bundle.collective.reduces() ||
          places <= kMostShares / bundle.collective.num_participants());
}

Result<Snapshot> snapshot(const Bundle& before,
                          const Topology& now,
                          std::span<const NodeId> left,
                          Ticks at) {
  return Camera(before, now, left, at).run();
}

}  // namespace tacos::repairing
