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
// Little is looked at twice: an event wakes the NPUs that it may give something to (waiting.h), an
// in-link knows how far it has looked at each source in vain (offers.h), and the rarest of many
// chunks is looked for among those that few have (holders.h).
//
// Cost: an event looks at the in-links of those it wakes, O(1) each and for each idle source behind
// them. A transfer costs O(useful sources x chunks / 64) in words that lie side by side. Beside
// that every in-link sees whatever comes to a source behind it once. Through 64 NPUs a delivery
// takes 1 to 2 us. Meant for up to about 2^20 deliveries.
#include "synthesis/matching/ports/port_matcher.h"

#include <algorithm>
#include <bit>
#include <span>
#include <vector>

#include "base/assert.h"
#include "base/event_queue.h"
#include "base/memory/bit_matrix.h"
#include "base/numbers/bits.h"
#include "base/numbers/rng.h"
#include "base/parallel/cancel.h"
#include "synthesis/matching/holders.h"
#include "synthesis/matching/ports/claims.h"
#include "synthesis/matching/ports/offers.h"
#include "synthesis/matching/ports/port_network.h"
#include "synthesis/matching/ports/relays.h"
#include "synthesis/matching/ports/sources.h"
#include "synthesis/matching/ports/speed_levels.h"
#include "synthesis/matching/ports/stock.h"
#include "synthesis/matching/ports/waiting.h"

namespace tacos::matching {
namespace {

using Word = BitMatrix::Word;
constexpr std::uint64_t kNeverFailed = ~std::uint64_t{0};

class PortMatcher {
 public:
  PortMatcher(const Topology& topology, const SpreadTask& task, const PortOptions& options)
      : options_(options),
        task_(task),
        network_(topology, options.direction, task.chunk_bytes, options.link_model, options.pace),
        levels_(network_.links(), network_.num_nodes()),
        relays_(task, network_),
        sources_(network_, levels_, topology.num_npus(), options.seed),
        num_npus_(topology.num_npus()),
        stock_(task),
        claims_(levels_, num_npus_, network_.num_nodes(), task.num_chunks),
        offers_({task, network_, levels_, relays_, stock_, claims_}, options.duplicates),
        holders_(options.rarity == Rarity::kNpus ? 1 : levels_.num_levels(),
                 Holders(task.num_chunks, num_npus_)),
        missing_(num_npus_, 0),
        free_(network_.links().size(), 0),
        news_(network_.num_nodes(), 0),
        waiting_(network_, levels_, num_npus_) {
    for (const PortLink& link : network_.links()) {
      slowest_ = std::max(slowest_, link.serialization);
    }
    first_in_.push_back(0);
    for (std::uint32_t npu = 0; npu < num_npus_; ++npu) {
      for (const std::uint32_t link : network_.in_links(npu)) {
        in_links_.push_back({.link = link,
                             .place = network_.news_place(network_.links()[link].src),
                             .max_latency_before = network_.max_latency_before(link)});
      }
      first_in_.push_back(static_cast<std::uint32_t>(in_links_.size()));
      missing_[npu] = count(task.wanted.row(npu));
      remaining_ += missing_[npu];
    }
    for (std::uint32_t npu = 0; npu < num_npus_; ++npu) {
      for (const std::uint32_t chunk : stock_.log(npu)) {
        claim(npu, chunk);
      }
    }
  }

  std::optional<TransferBatch> run() {
    std::int64_t now = 0;
    CancelPoll poll;
    while (remaining_ > 0) {
      poll();
      const std::uint32_t first =
          Rng(mix64(options_.seed, static_cast<std::uint64_t>(now))).below(num_npus_);
      waiting_.each_from(first, [&](std::uint32_t npu) {
        if (missing_[npu] > 0 || !task_.everyone) {
          serve(npu, now);
        }
      });
      if (too_long_) {
        return std::nullopt;
      }
      if (events_.next_time() == EventQueue<Event>::kNever && remaining_ > 0) {
        // Everybody waits for a neighbourhood that waits in turn: let duplicates through.
        const bool did_not = offers_.let_duplicates_through();
        TACOS_ASSERT(did_not, "a connected network leaves something to send");
        for (Watched& in : in_links_) {
          in.failed_at = kNeverFailed;
        }
        waiting_.add_everybody();
        continue;
      }
      now = pass_time();
    }
    return task_.everyone ? std::move(transfers_)
                          : without_vain_relays(transfers_, task_, network_);
  }

 private:
  /// A link comes free, or a transfer arrives over it.
  struct Event {
    Ticks time;
    std::uint32_t link = 0;
    /// kNone when the link comes free.
    std::uint32_t transfer = 0;
  };
  /// A link into an NPU.
  struct Watched {
    std::uint32_t link = 0;
    /// Where its news are counted.
    std::uint32_t place = 0;
    /// The news when it last had nothing to offer.
    std::uint64_t failed_at = kNeverFailed;
    std::int64_t max_latency_before = 0;
  };
  /// An idle in-link of the receiver being served, and what could come over it.
  struct Port {
    std::uint32_t link = 0;
    std::uint32_t first_source = 0;
    std::uint32_t num_sources = 0;
    std::uint32_t candidates = 0;
    /// Where its candidates are in words_.
    std::size_t first_word = 0;
  };
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  /// Lets happen what happens next; returns when that is.
  std::int64_t pass_time() {
    const std::int64_t now = events_.next_time().ps;
    events_.take_next(happening_);
    for (const Event& event : happening_) {
      const PortLink& link = network_.links()[event.link];
      if (event.transfer == kNone) {
        ++news_[network_.news_place(std::max(link.src, link.dst))];
        waiting_.freed(event.link);
        if (link.src < num_npus_ && free_[event.link] <= now) {
          sources_.set_idle(event.link, true);
        }
        continue;
      }
      for (const ChunkId chunk : transfers_[event.transfer].chunks) {
        stock_.land(link.dst, chunk.value());
      }
      offers_.arrived(link.dst);
      for (const std::uint32_t place : network_.places_of(link.dst)) {
        ++news_[place];
      }
      waiting_.arrived(link.dst, sources_);
    }
    return now;
  }

  void claim(std::uint32_t npu, std::uint32_t chunk) {
    if (task_.wanted.test(npu, chunk)) {
      --missing_[npu];
      --remaining_;
    }
    relays_.claim(npu, chunk);
    const bool owes_more = claims_.add(npu, chunk, [&](std::uint32_t level) {
      if (level < holders_.size()) {
        holders_[level].add(chunk);
      }
    });
    // But for that a claim leaves everybody less to take.
    if (owes_more && offers_.may_excuse()) {
      waiting_.owes_more(npu);
    }
  }

  /// Starts what can start into one NPU now.
  void serve(std::uint32_t npu, std::int64_t now) {
    ports_.clear();
    sources_.clear();
    const std::uint64_t claims = offers_.may_excuse() ? claims_.news(npu) : 0;
    for (std::uint32_t i = first_in_[npu]; i < first_in_[npu + 1]; ++i) {
      Watched& in = in_links_[i];
      // Busy for long, or nothing has changed since it last had nothing to offer. Grows with
      // everything that may give it something to bring: what its sources hold, links of its
      // switches that come free, and what the receiver's neighbourhood is owed.
      const std::uint64_t news = news_[in.place] + claims;
      if (free_[in.link] > now + in.max_latency_before || in.failed_at == news ||
          !sources_.may_find(in.link)) {
        continue;
      }
      if (!may_bring(npu, in.link)) {
        in.failed_at = news;
        continue;
      }
      Port port{.link = in.link};
      if (find_sources(npu, now, port)) {
        ports_.push_back(port);
      } else if (port.num_sources > 0 || sources_.is_simple(in.link)) {
        in.failed_at = news;
      }
    }
    if (!ports_.empty()) {
      take_all(npu, now);
    }
  }

  /// Whether any source has something for the NPU now.
  bool find_sources(std::uint32_t npu, std::int64_t now, Port& port) {
    list_sources(npu, now, offers_.nothing_new(port.link), port);
    return offers_.look(port.link, sources_of(port)) || find_duplicates(npu, now, port);
  }
  bool find_duplicates(std::uint32_t npu, std::int64_t now, Port& port) {
    if (!may_excuse(npu, port.link)) {
      return false;
    }
    if (sources_.is_simple(port.link)) {
      list_sources(npu, now, offers_.nothing_at_all(port.link), port);
    }
    return offers_.look_for_duplicates(port.link, sources_of(port));
  }
  /// What can be told without a list of sources.
  bool may_bring(std::uint32_t npu, std::uint32_t link) {
    if (!sources_.is_simple(link)) {
      return true;
    }
    const Word idle = sources_.idle_behind(link);
    return (idle & ~offers_.nothing_new(link)) != 0 ||
           ((idle & ~offers_.nothing_at_all(link)) != 0 && may_excuse(npu, link));
  }
  bool may_excuse(std::uint32_t npu, std::uint32_t link) {
    if (!offers_.may_excuse()) {
      return false;
    }
    const Source* const all = sources_.all_alike(link);
    return all == nullptr || offers_.excuses(npu, *all);
  }
  void list_sources(std::uint32_t npu, std::int64_t now, Word skipped, Port& port) {
    port.first_source = static_cast<std::uint32_t>(sources_.size());
    sources_.find(npu, port.link, now, free_, skipped);
    port.num_sources = static_cast<std::uint32_t>(sources_.size()) - port.first_source;
  }

  /// Starts a transfer over each port, those with fewest candidates first.
  void take_all(std::uint32_t npu, std::int64_t now) {
    const bool counts = ports_.size() > 1 || options_.share > 1;
    words_.resize(ports_.size() * stock_.row(npu).size());
    for (std::size_t i = 0; i < ports_.size(); ++i) {
      ports_[i].first_word = i * stock_.row(npu).size();
      collect(npu, ports_[i]);
      ports_[i].candidates = counts ? count(words_of(ports_[i])) : 1;
    }
    std::sort(ports_.begin(), ports_.end(), [](const Port& a, const Port& b) {
      return a.candidates != b.candidates ? a.candidates < b.candidates : a.link < b.link;
    });
    for (std::size_t i = 0; i < ports_.size(); ++i) {
      Port& port = ports_[i];
      if (port.candidates == 0 && find_duplicates(npu, now, port)) {
        // The others took what it had, but now there are duplicates to excuse.
        collect(npu, port);
        port.candidates = count(words_of(port));
      }
      const auto ports_left = static_cast<std::uint32_t>(ports_.size() - i);
      const std::uint32_t fair = (port.candidates + ports_left - 1) / ports_left;
      if (port.candidates > 0) {
        take(npu, port, std::min(share_of(port.link), std::max(1U, fair)), now);
        forget_taken(std::span(ports_).subspan(i + 1));
      }
    }
  }

  /// Takes what has just been started off the candidates of other ports.
  void forget_taken(std::span<Port> others) {
    for (Port& port : others) {
      for (const ChunkId chunk : chunks_) {
        const Word bit = Word{1} << chunk.index() % BitMatrix::kWordBits;
        Word& word = words_[port.first_word + chunk.index() / BitMatrix::kWordBits];
        port.candidates -= (word & bit) != 0 ? 1 : 0;
        word &= ~bit;
      }
    }
  }

  [[nodiscard]] std::span<Source> sources_of(const Port& port) {
    return sources_.list().subspan(port.first_source, port.num_sources);
  }

  [[nodiscard]] std::span<Word> words_of(const Port& port) {
    return std::span(words_).subspan(port.first_word, words_.size() / ports_.size());
  }

  static std::uint32_t count(std::span<const Word> words) {
    return static_cast<std::uint32_t>(count_bits(words));
  }

  /// The most chunks in one transfer over an in-link.
  [[nodiscard]] std::uint32_t share_of(std::uint32_t link) const {
    if (options_.sharing == Sharing::kAllLinks) {
      return options_.share;
    }
    const std::int64_t equal = slowest_ / network_.links()[link].serialization;
    return static_cast<std::uint32_t>(std::clamp<std::int64_t>(equal, 1, options_.share));
  }

  /// Collects what a port's useful sources offer into its words.
  void collect(std::uint32_t npu, const Port& port) {
    const std::span<Word> words = words_of(port);
    std::fill(words.begin(), words.end(), 0);
    for (const Source& source : sources_of(port)) {
      if (source.useful) {
        offers_.add_all(npu, source, words);
      }
    }
  }

  /// Starts a transfer of up to `most` chunks, the rarest of the port's candidates first.
  void take(std::uint32_t npu, const Port& port, std::uint32_t most, std::int64_t now) {
    const std::uint64_t salt = mix64(options_.seed, mix64(static_cast<std::uint64_t>(now), npu));
    const std::uint32_t rarest =
        holders_at(levels_.level(port.link)).rarest_of(words_of(port), salt);
    const Source* best = nullptr;
    for (const Source& source : sources_of(port)) {
      if (!offers_.has(npu, source, rarest)) {
        continue;
      }
      // Sources that hold less are of less use to others.
      if (best == nullptr || source.level < best->level ||
          (source.level == best->level && stock_.held(source.npu) < stock_.held(best->npu))) {
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
    const Holders& holders = holders_at(source.level);
    offer_.assign(stock_.row(npu).size(), 0);
    offers_.add_all(npu, source, offer_);
    rated_.clear();
    for (std::size_t word = 0; word < offer_.size(); ++word) {
      for (Word bits = offer_[word]; bits != 0; bits &= bits - 1) {
        const std::uint32_t chunk = chunk_at(word, bits);
        rated_.emplace_back(holders.rarity(chunk, salt), chunk);
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
  [[nodiscard]] const Holders& holders_at(std::uint32_t level) const {
    return holders_[options_.rarity == Rarity::kNpus ? 0 : level];
  }

  void start(std::uint32_t npu, const Source& source, std::int64_t now) {
    const auto count = static_cast<std::int64_t>(chunks_.size());
    std::int64_t head = now;
    std::int64_t slowest = 0;
    links_.clear();
    for (const std::uint32_t number : sources_.route(source)) {
      const PortLink& link = network_.links()[number];
      free_[number] = head + count * link.serialization + link.overhead;
      if (link.src < num_npus_) {
        sources_.set_idle(number, free_[number] <= now);
      }
      // The link can follow with a transfer whose head is as far away.
      events_.push({now},
                   {.time = {free_[number] - (head - now)}, .link = number, .transfer = kNone});
      slowest = std::max(slowest, count * link.serialization);
      head += link.latency;
      links_.push_back(link.id);
    }
    const std::uint32_t missing = missing_[npu];
    for (const ChunkId chunk : chunks_) {
      claim(npu, chunk.value());
    }
    // What a relay takes in vain is left out in the end.
    too_long_ = too_long_ || (head + slowest >= options_.limit.ps && missing_[npu] < missing);
    events_.push({now},
                 {.time = {head + slowest},
                  .link = sources_.route(source).back(),
                  .transfer = static_cast<std::uint32_t>(transfers_.size())});
    transfers_.append({.start = {now}, .op = Op::kCopy, .links = links_, .chunks = chunks_});
  }

  PortOptions options_;
  const SpreadTask& task_;
  PortNetwork network_;
  SpeedLevels levels_;
  Relays relays_;
  Sources sources_;
  std::uint32_t num_npus_;
  Stock stock_;
  Claims claims_;
  Offers offers_;
  /// By level, as far as they are asked for.
  std::vector<Holders> holders_;
  /// Chunks that an NPU wants and that are not yet on their way to it.
  std::vector<std::uint32_t> missing_;
  std::vector<std::int64_t> free_;
  /// By NPU, from here on.
  std::vector<std::uint32_t> first_in_;
  std::vector<Watched> in_links_;
  std::vector<std::uint64_t> news_;
  std::uint64_t remaining_ = 0;
  /// Serialization time of a chunk on the slowest link.
  std::int64_t slowest_ = 1;
  bool too_long_ = false;
  EventQueue<Event> events_;
  std::vector<Event> happening_;
  Waiting waiting_;
  TransferBatch transfers_;

  // Of the receiver being served:
  std::vector<Port> ports_;
  /// By port, those of its candidates.
  std::vector<Word> words_;
  std::vector<Word> offer_;
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
