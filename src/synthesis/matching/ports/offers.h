// SPDX-License-Identifier: MIT
// What sources have for a receiver: the rules of the port matcher.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/csr.h"
#include "base/memory/bit_matrix.h"
#include "base/numbers/wide.h"
#include "synthesis/common/spread_task.h"
#include "synthesis/matching/ports/claims.h"
#include "synthesis/matching/ports/port_network.h"
#include "synthesis/matching/ports/relays.h"
#include "synthesis/matching/ports/sources.h"
#include "synthesis/matching/ports/speed_levels.h"
#include "synthesis/matching/ports/stock.h"

namespace tacos::matching {

/// Whether slow links may bring what the receiver's neighbourhood has or is getting.
enum class Duplicates {
  kAvoid,     ///< unless the neighbourhood's back-log is long
  kAvoidAll,  ///< never
  kAllow,     ///< always; measured worse
};

/// What an in-link may bring only becomes less with time, but for what its sources get. So for
/// every in-link and source it is known how much of what came to the source was looked at in vain,
/// and nothing is looked at twice: O(1), and what came since, to see whether there is anything.
class Offers {
 public:
  using Word = BitMatrix::Word;

  /// Who wants, is joined to, and has what. All must live as long.
  struct Market {
    const SpreadTask& task;
    const PortNetwork& network;
    const SpeedLevels& levels;
    const Relays& relays;
    const Stock& stock;
    const Claims& claims;
  };
  Offers(const Market& market, Duplicates duplicates);

  /// Finds out which of the sources of an in-link have something for its NPU; whether any has.
  bool look(std::uint32_t link, std::span<Source> sources);
  /// The same when there was none: the back-log may excuse duplicates.
  bool look_for_duplicates(std::uint32_t link, std::span<Source> sources);
  [[nodiscard]] bool may_excuse() const { return duplicates_ == Duplicates::kAvoid; }
  /// Whether the back-log excuses duplicates from a source of this level and pace.
  [[nodiscard]] bool excuses(std::uint32_t npu, const Source& source) {
    return source.level > 0 && backlogged(npu, source);
  }

  /// Bits of sources of a simple in-link that look() and look_for_duplicates() would find nothing
  /// at.
  [[nodiscard]] Word nothing_new(std::uint32_t link) const { return nothing_new_[slot_[link]]; }
  [[nodiscard]] Word nothing_at_all(std::uint32_t link) const { return nothing_[slot_[link]]; }
  /// Something has come to an NPU.
  void arrived(std::uint32_t npu);

  /// Adds all that the source has for the NPU to `words`. O(chunks / 64).
  void add_all(std::uint32_t npu, const Source& source, std::span<Word> words) const;
  /// Whether the source has a chunk that some source offers the NPU.
  [[nodiscard]] bool has(std::uint32_t npu, const Source& source, std::uint32_t chunk) const {
    return source.useful && stock_.has(source.npu, chunk) &&
           !(only_new(source) && claims_.by_neighbourhood(source.level, npu, chunk));
  }

  /// From now on duplicates are taken; false when they were before.
  bool let_duplicates_through();

 private:
  /// How much of what came to a source an in-link has looked at without finding anything.
  struct Looked {
    /// That the receiver lacks.
    std::uint32_t for_npu = 0;
    /// That its neighbourhood at a level lacks.
    std::uint32_t for_neighbourhood = 0;
    std::uint32_t level = 0;
  };
  /// An NPU's bit at a switch, and the slots of the links from there to NPUs.
  struct Place {
    std::size_t first_slot = 0;
    std::size_t end_slot = 0;
    Word bit = 0;
  };
  /// What faster links bring to an NPU in 1.5 transfers of a slower one of this pace.
  struct Brought {
    std::int64_t slowest = 0;
    std::uint32_t chunks = 0;
  };

  /// Whether the receiver takes from the source only what its neighbourhood lacks. At the fastest
  /// level that is the receiver alone.
  [[nodiscard]] bool only_new(const Source& source) const {
    return deduplicate_ && !source.duplicates && source.level > 0;
  }
  /// Whether the NPU takes the chunk: it wants it, or brings it nearer to one who does.
  [[nodiscard]] bool welcome(std::uint32_t npu, std::uint32_t chunk) const {
    return task_.everyone || task_.wanted.test(npu, chunk) || relays_.useful(npu, chunk);
  }
  void find_slots();
  bool has_something(std::uint32_t link, const Source& source);
  bool backlogged(std::uint32_t npu, const Source& source);

  const SpreadTask& task_;
  const PortNetwork& network_;
  const SpeedLevels& levels_;
  const Relays& relays_;
  const Stock& stock_;
  const Claims& claims_;
  Duplicates duplicates_;
  bool deduplicate_;
  std::size_t num_npus_;
  /// By in-link of an NPU, from here on, and source; of a direct link its only source.
  std::vector<std::size_t> first_looked_;
  std::vector<Looked> looked_;
  /// By link: links out of one switch lie side by side. By slot.
  std::vector<std::size_t> slot_;
  std::vector<Word> nothing_new_;
  std::vector<Word> nothing_;
  /// By NPU: where it is at even switches.
  Csr<Place> places_;
  /// By level and NPU, the last that was asked for.
  std::vector<Brought> brought_;
};

}  // namespace tacos::matching
