// SPDX-License-Identifier: MIT
// Matching for networks that are not flat: boxes on a switch, fast groups joined by slow links.
//
// The scarce things are ports: a transfer through switches needs the sender's up-link, the
// receiver's down-link and the links between at the right moments, so a choice binds both sides and
// is made when the transfer starts. At each event every receiver with an idle in-link looks at what
// the sources behind it hold and it neither holds nor is being sent, and takes the rarest.
//
// On such networks plain matching wastes slow links: a chunk crosses into a fast group once for
// every member that asks first. Two rules (ADR 6) mend that:
//   De-duplication: over a slow link take nothing that the receiver's neighbourhood (the strongly
//   connected component of faster links) has or is getting.
//   Back-log: unless that neighbourhood owes the receiver so much that its faster links need more
//   than 1.5 transfers of the slow one for it; then a duplicate costs nothing.
//
// With `share` > 1 a transfer takes several chunks and pays latency once; the idle in-links of a
// receiver split what there is. For small messages this is worth 2 to 10 times.
//
// NPUs that do not want a chunk may relay it (relays.h): when that brings it nearer to one who
// does.
//
// Routes are found backwards from the receiver's switch, over links that will be free when the head
// of the message reaches them; nothing per pair of ports is stored.
//
// Cost: an event looks at each idle in-link, O(sources x chunks / 64 + candidates) each. Meant for
// up to about 2^20 deliveries.
#include "synthesis/matching/ports/port_matcher.h"

#include <algorithm>
#include <bit>
#include <queue>
#include <span>
#include <vector>

#include "base/assert.h"
#include "base/memory/bit_matrix.h"
#include "base/numbers/rng.h"
#include "base/numbers/wide.h"
#include "synthesis/matching/ports/port_network.h"
#include "synthesis/matching/ports/relays.h"
#include "synthesis/matching/ports/sources.h"
#include "synthesis/matching/ports/speed_levels.h"

namespace tacos::matching {
namespace {

using Word = BitMatrix::Word;
constexpr std::uint32_t kNone = ~std::uint32_t{0};
constexpr std::uint64_t kNeverFailed = ~std::uint64_t{0};

class PortMatcher {
 public:
  PortMatcher(const Topology& topology, const SpreadTask& task, const PortOptions& options)
      : options_(options),
        task_(task),
        network_(topology, options.direction, task.chunk_bytes, options.link_model),
        levels_(network_.links(), network_.num_nodes()),
        relays_(task, network_),
        sources_(network_, levels_, topology.num_npus(), options.seed),
        num_npus_(topology.num_npus()),
        num_chunks_(task.num_chunks),
        have_(task.held),
        claim_(num_npus_, num_chunks_),
        cluster_(std::size_t{levels_.num_levels()} * network_.num_nodes(), num_chunks_),
        held_(num_npus_, 0),
        missing_(num_npus_, 0),
        holders_(std::size_t{levels_.num_levels()} * num_chunks_, 0),
        free_(network_.links().size(), 0),
        failed_at_(network_.links().size(), kNeverFailed),
        news_(network_.num_nodes(), 0),
        claims_(network_.num_nodes(), 0),
        words_(have_.words_per_row()) {
    deduplicate_ = options.duplicates != Duplicates::kAllow;
    for (const PortLink& link : network_.links()) {
      slowest_ = std::max(slowest_, link.serialization);
    }
    for (std::uint32_t npu = 0; npu < num_npus_; ++npu) {
      for (std::uint32_t chunk = 0; chunk < num_chunks_; ++chunk) {
        missing_[npu] += task.wanted.test(npu, chunk) ? 1 : 0;
      }
      remaining_ += missing_[npu];
    }
    for (std::uint32_t npu = 0; npu < num_npus_; ++npu) {
      for (std::uint32_t chunk = 0; chunk < num_chunks_; ++chunk) {
        if (task.held.test(npu, chunk)) {
          claim(npu, chunk);
          ++held_[npu];
        }
      }
    }
  }

  std::optional<TransferBatch> run() {
    events_.emplace(0, 0);
    std::int64_t now = 0;
    while (remaining_ > 0) {
      if (events_.empty()) {
        // Everybody waits for a neighbourhood that waits in turn: let duplicates through.
        TACOS_ASSERT(deduplicate_, "a connected network leaves something to send");
        deduplicate_ = false;
        std::fill(failed_at_.begin(), failed_at_.end(), kNeverFailed);
        events_.emplace(now, 0);
      }
      now = events_.top().first;
      if (now > kMaxTime.ps) {
        return std::nullopt;
      }
      while (!events_.empty() && events_.top().first == now) {
        ++news_[events_.top().second];
        events_.pop();
      }
      land(now);
      const std::uint32_t first =
          Rng(mix64(options_.seed, static_cast<std::uint64_t>(now))).below(num_npus_);
      for (std::uint32_t i = 0; i < num_npus_; ++i) {
        const std::uint32_t npu = first + i < num_npus_ ? first + i : first + i - num_npus_;
        if (missing_[npu] > 0 || !task_.everyone) {
          serve(npu, now);
        }
      }
    }
    return task_.everyone ? std::move(transfers_)
                          : without_vain_relays(transfers_, task_, network_);
  }

 private:
  struct Arrival {
    std::int64_t time;
    std::uint32_t transfer;
    std::uint32_t npu;
    friend bool operator>(const Arrival& a, const Arrival& b) {
      return a.time != b.time ? a.time > b.time : a.transfer > b.transfer;
    }
  };
  /// An idle in-link of the receiver being served, and what could come over it.
  struct Port {
    std::uint32_t link = 0;
    std::uint32_t first_source = 0;
    std::uint32_t num_sources = 0;
    std::uint32_t candidates = 0;
  };

  void land(std::int64_t now) {
    while (!arrivals_.empty() && arrivals_.top().time <= now) {
      const Arrival arrival = arrivals_.top();
      arrivals_.pop();
      for (const ChunkId chunk : transfers_[arrival.transfer].chunks) {
        have_.set(arrival.npu, chunk.index());
        ++held_[arrival.npu];
      }
      for (const std::uint32_t place : network_.places_of(arrival.npu)) {
        ++news_[place];
      }
    }
  }

  void claim(std::uint32_t npu, std::uint32_t chunk) {
    claim_.set(npu, chunk);
    if (task_.wanted.test(npu, chunk)) {
      --missing_[npu];
      --remaining_;
    }
    relays_.claim(npu, chunk);
    ++claims_[levels_.component(levels_.num_levels() - 1, npu)];
    for (std::uint32_t level = 0; level < levels_.num_levels(); ++level) {
      const std::size_t row = cluster_row(level, npu);
      holders_[std::size_t{level} * num_chunks_ + chunk] += cluster_.test(row, chunk) ? 0 : 1;
      cluster_.set(row, chunk);
    }
  }

  [[nodiscard]] std::size_t cluster_row(std::uint32_t level, std::uint32_t npu) const {
    return std::size_t{level} * network_.num_nodes() + levels_.component(level, npu);
  }

  /// Starts what can start into one NPU now.
  void serve(std::uint32_t npu, std::int64_t now) {
    ports_.clear();
    sources_.clear();
    for (const std::uint32_t link : network_.in_links(npu)) {
      // Nothing has changed since it last had nothing to offer, or it is busy for long.
      const std::uint64_t news = news_for(npu, link);
      if (failed_at_[link] == news || free_[link] > now + network_.max_route_latency()) {
        continue;
      }
      Port port{.link = link, .first_source = static_cast<std::uint32_t>(sources_.size())};
      sources_.find(npu, link, now, free_);
      port.num_sources = static_cast<std::uint32_t>(sources_.size()) - port.first_source;
      port.candidates = port.num_sources == 0 ? 0 : offer(npu, port);
      if (port.candidates > 0) {
        ports_.push_back(port);
      } else if (port.num_sources > 0) {
        failed_at_[link] = news;
      }
    }
    std::sort(ports_.begin(), ports_.end(), [](const Port& a, const Port& b) {
      return a.candidates != b.candidates ? a.candidates < b.candidates : a.link < b.link;
    });
    for (std::size_t i = 0; i < ports_.size(); ++i) {
      const std::uint32_t left = offer(npu, ports_[i]);
      const auto ports_left = static_cast<std::uint32_t>(ports_.size() - i);
      const std::uint32_t fair = (left + ports_left - 1) / ports_left;
      if (left > 0) {
        take(npu, ports_[i], std::min(share_of(ports_[i].link), std::max(1U, fair)), now);
      }
    }
  }

  /// Grows with everything that may give an in-link something to bring: what its sources hold,
  /// links of its switches that come free, and what the receiver's neighbourhood is owed.
  [[nodiscard]] std::uint64_t news_for(std::uint32_t npu, std::uint32_t link) const {
    const std::uint32_t place = network_.news_place(network_.links()[link].src);
    const std::uint32_t widest = levels_.num_levels() - 1;
    return news_[place] + claims_[levels_.component(widest, npu)];
  }

  /// The most chunks in one transfer over an in-link.
  [[nodiscard]] std::uint32_t share_of(std::uint32_t link) const {
    if (options_.sharing == Sharing::kAllLinks) {
      return options_.share;
    }
    const std::int64_t equal = slowest_ / network_.links()[link].serialization;
    return static_cast<std::uint32_t>(std::clamp<std::int64_t>(equal, 1, options_.share));
  }

  /// What a source offers, word by word.
  [[nodiscard]] Word offered(const Source& source, std::uint32_t npu, std::size_t word) const {
    Word offer = have_.row(source.npu)[word] & ~claim_.row(npu)[word];
    if (deduplicate_ && !source.duplicates) {
      offer &= ~cluster_.row(cluster_row(source.level, npu))[word];
    }
    if (task_.everyone) {
      return offer;
    }
    // What the NPU does not want it takes only to bring it nearer to who does.
    const Word wanted = task_.wanted.row(npu)[word];
    Word relayed = 0;
    for (Word bits = offer & ~wanted; bits != 0; bits &= bits - 1) {
      const std::uint32_t chunk = chunk_at(word, bits);
      relayed |= relays_.useful(npu, chunk) ? bits & (~bits + 1) : 0;
    }
    return (offer & wanted) | relayed;
  }

  /// Collects what a port's sources offer into words_; returns how many chunks.
  std::uint32_t offer(std::uint32_t npu, const Port& port) {
    const std::span<Source> sources = sources_.list().subspan(port.first_source, port.num_sources);
    std::uint32_t count = collect(npu, sources);
    if (count == 0 && options_.duplicates == Duplicates::kAvoid) {
      bool excused = false;
      for (Source& source : sources) {
        source.duplicates = source.level > 0 && backlogged(npu, source);
        excused = excused || source.duplicates;
      }
      count = excused ? collect(npu, sources) : 0;
    }
    return count;
  }

  std::uint32_t collect(std::uint32_t npu, std::span<const Source> sources) {
    std::uint32_t count = 0;
    for (std::size_t word = 0; word < words_.size(); ++word) {
      Word all = 0;
      for (const Source& source : sources) {
        all |= offered(source, npu, word);
      }
      words_[word] = all;
      count += static_cast<std::uint32_t>(std::popcount(all));
    }
    return count;
  }

  /// Whether the neighbourhood owes the NPU more than its faster links bring in 1.5 transfers.
  [[nodiscard]] bool backlogged(std::uint32_t npu, const Source& source) const {
    const auto theirs = cluster_.row(cluster_row(source.level, npu));
    const auto mine = claim_.row(npu);
    std::int64_t owed = 0;
    for (std::size_t word = 0; word < theirs.size(); ++word) {
      owed += std::popcount(theirs[word] & ~mine[word]);
    }
    std::int64_t slow = 0;
    for (std::uint32_t i = 0; i < source.num_links; ++i) {
      slow = std::max(slow, network_.links()[sources_.route(source)[i]].time());
    }
    constexpr std::int64_t kScale = 1024;
    Int128 brought = 0;
    for (const std::uint32_t link : network_.in_links(npu)) {
      if (levels_.level(link) < source.level) {
        brought += Int128{slow} * kScale / network_.links()[link].time();
      }
    }
    return Int128{2} * kScale * owed > 3 * brought;
  }

  /// Starts a transfer of up to `most` chunks, the rarest of words_ first.
  void take(std::uint32_t npu, const Port& port, std::uint32_t most, std::int64_t now) {
    const std::uint64_t salt = mix64(options_.seed, mix64(static_cast<std::uint64_t>(now), npu));
    const std::uint32_t rarest = rarest_of(rarity_level(levels_.level(port.link)), salt);
    const Source* best = nullptr;
    for (std::uint32_t i = 0; i < port.num_sources; ++i) {
      const Source& source = sources_.list()[port.first_source + i];
      const Word bit = Word{1} << rarest % BitMatrix::kWordBits;
      if ((offered(source, npu, rarest / BitMatrix::kWordBits) & bit) == 0) {
        continue;
      }
      // Sources that hold less are of less use to others.
      if (best == nullptr || source.level < best->level ||
          (source.level == best->level && held_[source.npu] < held_[best->npu])) {
        best = &source;
      }
    }
    if (most == 1) {
      chunks_.assign(1, ChunkId(rarest));
    } else {
      take_several(npu, *best, most, salt);
    }
    start(npu, *best, now);
  }

  /// The `most` rarest of what the source offers, into chunks_.
  void take_several(std::uint32_t npu,
                    const Source& source,
                    std::uint32_t most,
                    std::uint64_t salt) {
    rated_.clear();
    for (std::size_t word = 0; word < words_.size(); ++word) {
      for (Word bits = offered(source, npu, word); bits != 0; bits &= bits - 1) {
        const std::uint32_t chunk = chunk_at(word, bits);
        rated_.emplace_back(rarity(rarity_level(source.level), chunk, salt), chunk);
      }
    }
    if (rated_.size() > most) {
      std::nth_element(rated_.begin(), rated_.begin() + most, rated_.end());
      rated_.resize(most);
    }
    chunks_.clear();
    for (const auto& [key, chunk] : rated_) {
      chunks_.emplace_back(chunk);
    }
    std::sort(chunks_.begin(), chunks_.end());
  }

  static std::uint32_t chunk_at(std::size_t word, Word bits) {
    return static_cast<std::uint32_t>(word * BitMatrix::kWordBits +
                                      static_cast<std::size_t>(std::countr_zero(bits)));
  }

  /// At the fastest level every NPU is a neighbourhood of its own.
  [[nodiscard]] std::uint32_t rarity_level(std::uint32_t level) const {
    return options_.rarity == Rarity::kNpus ? 0 : level;
  }

  /// Neighbourhoods that hold it first, then random bits: smaller is rarer.
  [[nodiscard]] std::uint64_t rarity(std::uint32_t level,
                                     std::uint32_t chunk,
                                     std::uint64_t salt) const {
    const std::uint64_t noise = (chunk + salt) * 0x9e3779b97f4a7c15U >> 32U;
    return std::uint64_t{holders_[std::size_t{level} * num_chunks_ + chunk]} << 32U | noise;
  }

  [[nodiscard]] std::uint32_t rarest_of(std::uint32_t level, std::uint64_t salt) const {
    std::uint64_t best_key = ~std::uint64_t{0};
    std::uint32_t best = kNone;
    for (std::size_t word = 0; word < words_.size(); ++word) {
      for (Word bits = words_[word]; bits != 0; bits &= bits - 1) {
        const std::uint32_t chunk = chunk_at(word, bits);
        const std::uint64_t key = rarity(level, chunk, salt);
        if (key < best_key) {
          best_key = key;
          best = chunk;
        }
      }
    }
    return best;
  }

  void start(std::uint32_t npu, const Source& source, std::int64_t now) {
    const auto count = static_cast<std::int64_t>(chunks_.size());
    std::int64_t head = now;
    std::int64_t slowest = 0;
    links_.clear();
    for (std::uint32_t i = 0; i < source.num_links; ++i) {
      const std::uint32_t number = sources_.route(source)[i];
      const PortLink& link = network_.links()[number];
      free_[number] = head + count * link.serialization + link.overhead;
      // The link can follow with a transfer whose head is as far away.
      events_.emplace(free_[number] - (head - now),
                      network_.news_place(std::max(link.src, link.dst)));
      slowest = std::max(slowest, count * link.serialization);
      head += link.latency;
      links_.push_back(link.id);
    }
    for (const ChunkId chunk : chunks_) {
      claim(npu, chunk.value());
    }
    arrivals_.push({.time = head + slowest,
                    .transfer = static_cast<std::uint32_t>(transfers_.size()),
                    .npu = npu});
    events_.emplace(head + slowest, npu);
    transfers_.append({.start = {now}, .op = Op::kCopy, .links = links_, .chunks = chunks_});
  }

  PortOptions options_;
  const SpreadTask& task_;
  PortNetwork network_;
  SpeedLevels levels_;
  Relays relays_;
  Sources sources_;
  std::uint32_t num_npus_;
  std::uint32_t num_chunks_;
  BitMatrix have_;
  /// Held or being sent.
  BitMatrix claim_;
  /// By level and component: held by or being sent to any NPU of it.
  BitMatrix cluster_;
  std::vector<std::uint32_t> held_;
  /// Chunks that an NPU wants and that are not yet on their way to it.
  std::vector<std::uint32_t> missing_;
  /// By level and chunk: how many components hold it or are being sent it.
  std::vector<std::uint32_t> holders_;
  std::vector<std::int64_t> free_;
  /// The news when an in-link last had nothing to offer.
  std::vector<std::uint64_t> failed_at_;
  std::vector<std::uint64_t> news_;
  /// By component of the slowest level: chunks that its NPUs hold or are being sent.
  std::vector<std::uint64_t> claims_;
  std::uint64_t remaining_ = 0;
  /// Serialization time of a chunk on the slowest link.
  std::int64_t slowest_ = 1;
  bool deduplicate_ = true;
  /// A time, and the place at which it is news.
  using Event = std::pair<std::int64_t, std::uint32_t>;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::priority_queue<Arrival, std::vector<Arrival>, std::greater<>> arrivals_;
  TransferBatch transfers_;

  // Of the receiver being served:
  std::vector<Port> ports_;
  std::vector<Word> words_;
  std::vector<std::pair<std::uint64_t, std::uint32_t>> rated_;
  std::vector<ChunkId> chunks_;
  std::vector<LinkId> links_;
};

}  // namespace

std::optional<TransferBatch> match_ports(const Topology& topology,
                                         const SpreadTask& task,
                                         const PortOptions& options) {
  return PortMatcher(topology, task, options).run();
}

}  // namespace tacos::matching
