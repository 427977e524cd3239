// SPDX-License-Identifier: MIT
#include "support/reference_ports.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <vector>

#include "base/numbers/rng.h"
#include "base/numbers/wide.h"
#include "synthesis/matching/ports/port_network.h"
#include "synthesis/matching/ports/relays.h"

namespace tacos::testing {
namespace {

using matching::Duplicates;
using matching::PortLink;
using matching::Rarity;
using Chunks = std::set<std::uint32_t>;

struct Source {
  std::uint32_t npu = 0;
  std::vector<std::uint32_t> route;
  std::uint32_t level = 0;
  bool duplicates = false;
};

struct Port {
  std::uint32_t link = 0;
  std::vector<Source> sources;
  std::size_t candidates = 0;
};

class Reference {
 public:
  Reference(const Topology& topology, const SpreadTask& task, const matching::PortOptions& options)
      : npus_(topology.num_npus()),
        task_(task),
        options_(options),
        network_(topology, options.direction, task.chunk_bytes, options.link_model, options.pace),
        levels_(network_.links(), network_.num_nodes()),
        relays_(task, network_),
        deduplicate_(options.duplicates != Duplicates::kAllow),
        has_(npus_),
        claims_(npus_),
        free_(network_.links().size(), 0) {
    for (std::uint32_t npu = 0; npu < npus_; ++npu) {
      for (std::uint32_t chunk = 0; chunk < task.num_chunks; ++chunk) {
        if (task.held.test(npu, chunk)) {
          has_[npu].insert(chunk);
          claim(npu, chunk);
        }
      }
    }
  }

  std::optional<TransferBatch> run() {
    times_.insert(0);
    std::int64_t now = 0;
    while (is_something_missing()) {
      if (times_.empty()) {
        deduplicate_ = false;
        failed_at_.clear();
        times_.insert(now);
      }
      now = *times_.begin();
      times_.erase(times_.begin());
      for (const std::uint32_t place : news_at_[now]) {
        ++news_[place];
      }
      for (const auto& [npu, chunk] : arrivals_[now]) {
        has_[npu].insert(chunk);
        for (const std::uint32_t place : network_.places_of(npu)) {
          ++news_[place];
        }
      }
      const auto first = Rng(mix64(options_.seed, static_cast<std::uint64_t>(now))).below(npus_);
      for (std::uint32_t i = 0; i < npus_; ++i) {
        const std::uint32_t npu = (first + i) % npus_;
        if (is_something_missing(npu) || !task_.everyone) {
          serve(npu, now);
        }
      }
    }
    return task_.everyone ? made_ : matching::without_vain_relays(made_, task_, network_);
  }

 private:
  [[nodiscard]] bool is_something_missing(std::uint32_t npu) const {
    for (std::uint32_t chunk = 0; chunk < task_.num_chunks; ++chunk) {
      if (task_.wanted.test(npu, chunk) && !claims_[npu].contains(chunk)) {
        return true;
      }
    }
    return false;
  }
  [[nodiscard]] bool is_something_missing() const {
    for (std::uint32_t npu = 0; npu < npus_; ++npu) {
      if (is_something_missing(npu)) {
        return true;
      }
    }
    return false;
  }

  void claim(std::uint32_t npu, std::uint32_t chunk) {
    claims_[npu].insert(chunk);
    relays_.claim(npu, chunk);
  }

  [[nodiscard]] bool are_neighbours(std::uint32_t level, std::uint32_t a, std::uint32_t b) const {
    return levels_.component(level, a) == levels_.component(level, b);
  }
  [[nodiscard]] Chunks of_neighbourhood(std::uint32_t level, std::uint32_t npu) const {
    Chunks all;
    for (std::uint32_t other = 0; other < npus_; ++other) {
      if (are_neighbours(level, npu, other)) {
        all.insert(claims_[other].begin(), claims_[other].end());
      }
    }
    return all;
  }

  /// Everything that may give an in-link something to bring.
  std::uint64_t news_for(std::uint32_t npu, std::uint32_t link) {
    std::uint64_t news = news_[network_.news_place(network_.links()[link].src)];
    for (std::uint32_t other = 0; other < npus_; ++other) {
      news += are_neighbours(levels_.num_levels() - 1, npu, other) ? claims_[other].size() : 0;
    }
    return news;
  }

  void serve(std::uint32_t npu, std::int64_t now) {
    std::vector<Port> ports;
    for (const std::uint32_t link : network_.in_links(npu)) {
      const std::uint64_t news = news_for(npu, link);
      if (failed_at_.contains(link) && failed_at_[link] == news) {
        continue;
      }
      Port port{.link = link, .sources = sources_of(npu, link, now)};
      port.candidates = offer(npu, port).size();
      if (port.candidates > 0) {
        ports.push_back(port);
      } else if (!port.sources.empty()) {
        failed_at_[link] = news;
      }
    }
    std::sort(ports.begin(), ports.end(), [](const Port& a, const Port& b) {
      return std::pair(a.candidates, a.link) < std::pair(b.candidates, b.link);
    });
    for (std::size_t i = 0; i < ports.size(); ++i) {
      const Chunks left = offer(npu, ports[i]);
      const std::size_t fair = (left.size() + ports.size() - i - 1) / (ports.size() - i);
      if (!left.empty()) {
        take(npu,
             ports[i],
             left,
             std::min(share_of(ports[i].link), std::max<std::size_t>(1, fair)),
             now);
      }
    }
  }

  /// Backwards over free links through switches, each once, breadth first, in turn.
  std::vector<Source> sources_of(std::uint32_t npu, std::uint32_t link, std::int64_t now) {
    const auto turn = mix64(options_.seed + npu, static_cast<std::uint64_t>(now)) >> 33U;
    std::vector<std::vector<std::uint32_t>> ways{{link}};
    std::set<std::uint32_t> seen{npu, network_.links()[link].src};
    std::vector<Source> found;
    const auto add = [&](std::vector<std::uint32_t> route) {
      std::int64_t head = now;
      Source source{.npu = network_.links()[route.front()].src, .route = route};
      for (const std::uint32_t step : route) {
        if (free_[step] > head) {
          return false;
        }
        head += network_.links()[step].latency;
        source.level = std::max(source.level, levels_.level(step));
      }
      found.push_back(source);
      return true;
    };
    if (network_.links()[link].src < npus_) {
      add({link});
      return found;
    }
    for (std::size_t at = 0; at < ways.size(); ++at) {
      const auto into = network_.in_links(network_.links()[ways[at].front()].src);
      for (std::size_t i = 0; i < into.size(); ++i) {
        const std::uint32_t next = into[(turn + i) % into.size()];
        const std::uint32_t src = network_.links()[next].src;
        if (seen.contains(src) || free_[next] > now + network_.max_route_latency()) {
          continue;
        }
        std::vector<std::uint32_t> way{next};
        way.insert(way.end(), ways[at].begin(), ways[at].end());
        if (src >= npus_) {
          ways.push_back(way);
          seen.insert(src);
        } else if (add(way)) {
          seen.insert(src);
        }
      }
    }
    return found;
  }

  [[nodiscard]] std::size_t share_of(std::uint32_t link) const {
    std::int64_t slowest = 1;
    for (const PortLink& other : network_.links()) {
      slowest = std::max(slowest, other.serialization);
    }
    return options_.sharing == matching::Sharing::kAllLinks
               ? options_.share
               : static_cast<std::size_t>(std::clamp<std::int64_t>(
                     slowest / network_.links()[link].serialization, 1, options_.share));
  }

  [[nodiscard]] Chunks offered(const Source& source, std::uint32_t npu) const {
    const Chunks theirs = of_neighbourhood(source.level, npu);
    Chunks chunks;
    for (const std::uint32_t chunk : has_[source.npu]) {
      const bool duplicate = deduplicate_ && !source.duplicates && theirs.contains(chunk);
      if (!claims_[npu].contains(chunk) && !duplicate &&
          (task_.wanted.test(npu, chunk) || relays_.useful(npu, chunk))) {
        chunks.insert(chunk);
      }
    }
    return chunks;
  }

  Chunks offer(std::uint32_t npu, Port& port) {
    Chunks all;
    for (const bool excused : {false, true}) {
      if (excused && (!all.empty() || options_.duplicates != Duplicates::kAvoid)) {
        break;
      }
      for (Source& source : port.sources) {
        source.duplicates =
            excused ? source.level > 0 && is_owed_much(npu, source) : source.duplicates;
      }
      for (const Source& source : port.sources) {
        all.merge(offered(source, npu));
      }
    }
    return all;
  }

  [[nodiscard]] bool is_owed_much(std::uint32_t npu, const Source& source) const {
    const auto owed =
        static_cast<std::int64_t>(of_neighbourhood(source.level, npu).size() - claims_[npu].size());
    std::int64_t slow = 0;
    for (const std::uint32_t link : source.route) {
      slow = std::max(slow, network_.links()[link].pace);
    }
    Int128 brought = 0;
    for (const std::uint32_t link : network_.in_links(npu)) {
      brought += levels_.level(link) < source.level
                     ? Int128{slow} * 1024 / network_.links()[link].pace
                     : 0;
    }
    return Int128{2} * 1024 * owed > 3 * brought;
  }

  /// Smaller is rarer.
  [[nodiscard]] std::uint64_t rarity(std::uint32_t level,
                                     std::uint32_t chunk,
                                     std::uint64_t salt) const {
    std::set<std::uint32_t> holders;
    for (std::uint32_t npu = 0; npu < npus_; ++npu) {
      if (claims_[npu].contains(chunk)) {
        holders.insert(levels_.component(options_.rarity == Rarity::kNpus ? 0 : level, npu));
      }
    }
    return holders.size() << 32U | (chunk + salt) * 0x9e3779b97f4a7c15U >> 32U;
  }

  [[nodiscard]] std::vector<std::uint32_t> rarest(const Chunks& of,
                                                  std::size_t most,
                                                  std::uint32_t level,
                                                  std::uint64_t salt) const {
    std::set<std::pair<std::uint64_t, std::uint32_t>> rated;
    for (const std::uint32_t chunk : of) {
      rated.emplace(rarity(level, chunk, salt), chunk);
    }
    std::vector<std::uint32_t> chunks;
    for (const auto& [key, chunk] : rated) {
      if (chunks.size() < most) {
        chunks.push_back(chunk);
      }
    }
    std::sort(chunks.begin(), chunks.end());
    return chunks;
  }

  void take(
      std::uint32_t npu, const Port& port, const Chunks& left, std::size_t most, std::int64_t now) {
    const std::uint64_t salt = mix64(options_.seed, mix64(static_cast<std::uint64_t>(now), npu));
    const std::uint32_t first = rarest(left, 1, levels_.level(port.link), salt).front();
    const Source* best = nullptr;
    for (const Source& source : port.sources) {
      if (offered(source, npu).contains(first) &&
          (best == nullptr || std::pair(source.level, has_[source.npu].size()) <
                                  std::pair(best->level, has_[best->npu].size()))) {
        best = &source;
      }
    }
    start(npu,
          *best,
          most == 1 ? std::vector{first} : rarest(offered(*best, npu), most, best->level, salt),
          now);
  }

  void start(std::uint32_t npu,
             const Source& source,
             const std::vector<std::uint32_t>& taken,
             std::int64_t now) {
    const auto count = static_cast<std::int64_t>(taken.size());
    std::int64_t head = now;
    std::int64_t slowest = 0;
    std::vector<LinkId> links;
    for (const std::uint32_t number : source.route) {
      const PortLink& link = network_.links()[number];
      free_[number] = head + count * link.serialization + link.overhead;
      happens(free_[number] - (head - now), network_.news_place(std::max(link.src, link.dst)));
      slowest = std::max(slowest, count * link.serialization);
      head += link.latency;
      links.push_back(link.id);
    }
    std::vector<ChunkId> chunks;
    for (const std::uint32_t chunk : taken) {
      claim(npu, chunk);
      chunks.emplace_back(chunk);
      arrivals_[head + slowest].emplace_back(npu, chunk);
    }
    happens(head + slowest, npu);
    made_.append({.start = {now}, .op = Op::kCopy, .links = links, .chunks = chunks});
  }

  void happens(std::int64_t time, std::uint32_t place) {
    times_.insert(time);
    news_at_[time].push_back(place);
  }

  std::uint32_t npus_;
  const SpreadTask& task_;
  const matching::PortOptions& options_;
  matching::PortNetwork network_;
  matching::SpeedLevels levels_;
  matching::Relays relays_;
  bool deduplicate_;
  std::vector<Chunks> has_;
  std::vector<Chunks> claims_;
  std::vector<std::int64_t> free_;
  std::set<std::int64_t> times_;
  std::map<std::int64_t, std::vector<std::uint32_t>> news_at_;
  std::map<std::int64_t, std::vector<std::pair<std::uint32_t, std::uint32_t>>> arrivals_;
  std::map<std::uint32_t, std::uint64_t> news_;
  std::map<std::uint32_t, std::uint64_t> failed_at_;
  TransferBatch made_;
};

}  // namespace

std::optional<TransferBatch> reference_match_ports(const Topology& topology,
                                                   const SpreadTask& task,
                                                   const matching::PortOptions& options) {
  return Reference(topology, task, options).run();
}

}  // namespace tacos::testing
