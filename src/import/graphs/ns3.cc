// SPDX-License-Identifier: MIT
// Topology files of ns-3 (HPCC's format, which ASTRA-sim's ns-3 backend reads) and of SimAI:
//   nodes switches links                                        or, SimAI:
//   nodes gpus_per_server nv_switches other_switches links gpu_type
//   ids of switches
//   src dst 100Gbps 0.0005ms 0        one line per full-duplex link
// Line ends mean nothing, so an empty list of switches may be an empty line. O(words).
#include <optional>

#include <fmt/format.h>

#include "base/text/quantity.h"
#include "import/board.h"
#include "import/formats.h"
#include "import/text/fields.h"
#include "topology/generators.h"

namespace tacos::importing {
namespace {

struct Word {
  std::string_view text;
  std::size_t line;
};

class Ns3Reader {
 public:
  explicit Ns3Reader(const Source& source) : source_(source), board_(source) {
    for (const TextLine& line : lines_of(source.text())) {
      const std::vector<std::string_view> words = words_of(line.text);
      if (header_.empty()) {
        header_ = words;
        last_line_ = line.number;
        continue;
      }
      for (const std::string_view word : words) {
        words_.push_back({.text = word, .line = line.number});
      }
    }
  }

  Result<Topology> read() {
    constexpr std::size_t kPlain = 3;
    constexpr std::size_t kSimai = 6;
    if (header_.size() != kPlain && header_.size() != kSimai) {
      return source_.error(last_line_, "must be 3 numbers, or SimAI's 5 and a type of GPU");
    }
    std::vector<std::int64_t> counts;
    for (std::size_t i = 0; i < (header_.size() == kSimai ? kSimai - 1 : kPlain); ++i) {
      const std::optional<std::int64_t> count = whole(header_[i]);
      if (!count || *count < 0 || *count > kMaxLinks) {
        return source_.error(last_line_, fmt::format("'{}' is no number of nodes", header_[i]));
      }
      counts.push_back(*count);
    }
    const std::int64_t fast = counts.size() == kPlain ? 0 : counts[2];
    const std::int64_t switches = counts.size() == kPlain ? counts[1] : fast + counts[3];
    if (Status added = add_nodes(counts[0], switches, fast); !added) {
      return added.error();
    }
    for (std::int64_t link = 0; link < counts.back(); ++link) {
      if (Status added = add_link(link, counts.back()); !added) {
        return added.error();
      }
    }
    if (at_ < words_.size()) {
      return source_.error(words_[at_].line,
                           fmt::format("has more than the {} links of line 1", counts.back()));
    }
    return board_.build();
  }

 private:
  Status add_nodes(std::int64_t nodes, std::int64_t switches, std::int64_t fast) {
    if (Status fits = check_network_size(static_cast<std::uint64_t>(nodes), words_.size()); !fits) {
      return source_.error(1, fits.error().message);
    }
    std::vector<char> kinds(static_cast<std::size_t>(nodes), 'g');
    for (std::int64_t i = 0; i < switches; ++i) {
      const Result<std::size_t> node = next_node();
      if (!node) {
        return node.error();
      }
      kinds[*node] = i < fast ? 'n' : 's';
    }
    for (std::size_t node = 0; node < kinds.size(); ++node) {
      if (kinds[node] == 'g') {
        board_.add_npu(fmt::format("gpu{}", node));
      } else {
        board_.add_switch(fmt::format("{}{}", kinds[node] == 'n' ? "nvswitch" : "switch", node));
      }
    }
    return ok();
  }

  Result<std::size_t> next_node() {
    if (at_ == words_.size()) {
      return source_.error(last_line(), "ends in the middle of its nodes or links");
    }
    const Word word = words_[at_++];
    const std::optional<std::int64_t> node = whole(word.text);
    const std::int64_t nodes = *whole(header_.front());
    if (!node || *node < 0 || *node >= nodes) {
      return source_.error(word.line,
                           fmt::format("'{}' is no node; they are 0 to {}", word.text, nodes - 1));
    }
    return static_cast<std::size_t>(*node);
  }

  [[nodiscard]] std::size_t last_line() const {
    return words_.empty() ? last_line_ : words_.back().line;
  }

  Status add_link(std::int64_t link, std::int64_t links) {
    constexpr std::size_t kWords = 5;
    if (words_.size() - at_ < kWords) {
      return source_.error(last_line(),
                           fmt::format("ends after {} of the {} links of line 1", link, links));
    }
    const std::size_t line = words_[at_].line;
    const Result<std::size_t> from = next_node();
    const Result<std::size_t> to = from ? next_node() : from;
    if (!to) {
      return to.error();
    }
    const Result<Bandwidth> rate = parse_bandwidth(words_[at_++].text);
    const Result<Ticks> delay = parse_time(words_[at_++].text);
    ++at_;  // the error rate
    if (!rate || !delay) {
      return source_.error(line, !rate ? rate.error().message : delay.error().message);
    }
    board_.join(static_cast<Board::Node>(*from), static_cast<Board::Node>(*to), *rate, *delay);
    return ok();
  }

  const Source& source_;
  Board board_;
  std::vector<std::string_view> header_;
  std::vector<Word> words_;
  std::size_t at_ = 0;
  std::size_t last_line_ = 1;
};

}  // namespace

Result<Topology> read_ns3(const Source& source) {
  return Ns3Reader(source).read();
}

}  // namespace tacos::importing
