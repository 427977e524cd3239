// SPDX-License-Identifier: MIT
// What a member of a team sees of the logs of others: those of NPUs with a link to one of its own.
//
// A link reads its source's log from front to back, so of a log in the halo only what some link has
// still to look at is kept. After each window the members exchange what their logs have gained.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/parallel/team.h"
#include "schedule/logs/window_log.h"
#include "synthesis/matching/direct/arrival_times.h"
#include "synthesis/matching/direct/gather_network.h"

namespace tacos::matching {

/// What all members, or some NPUs, did in a window.
struct WindowSums {
  WindowLog::Totals totals;
  /// When all will be done if no link pauses any more.
  GridTime finish = 0;
  /// When the next transfer ends, if none did in the window.
  GridTime next = kNever;

  WindowSums& operator+=(const WindowSums& other) {
    totals += other.totals;
    finish = std::max(finish, other.finish);
    next = std::min(next, other.next);
    return *this;
  }
};

/// NPUs of `from` with a link to one of `to`, in increasing order.
[[nodiscard]] inline std::vector<std::uint32_t> sources_of(const GatherNetwork& network,
                                                           NpuRange to,
                                                           NpuRange from) {
  std::vector<std::uint32_t> sources;
  for (std::uint32_t at = network.first_in(to.first); at < network.first_in(to.end); ++at) {
    if (from.contains(network.in_links()[at].src)) {
      sources.push_back(network.in_links()[at].src);
    }
  }
  std::sort(sources.begin(), sources.end());
  sources.erase(std::unique(sources.begin(), sources.end()), sources.end());
  return sources;
}

/// How many NPUs' logs the halo of these has.
[[nodiscard]] inline std::uint64_t count_foreign_sources(const GatherNetwork& network,
                                                         NpuRange own) {
  return sources_of(network, own, {.first = 0, .end = own.first}).size() +
         sources_of(network, own, {.first = own.end, .end = network.num_npus()}).size();
}

/// `Id` is the type of the log's entries.
template <class Id>
class Halo {
 public:
  Halo(const GatherNetwork& network, Team& team, NpuRange own)
      : network_(network),
        team_(team),
        own_(own),
        slot_(network.num_npus(), kNone),
        peers_(static_cast<std::size_t>(team.size())) {
    for (int member = 0; member < team.size(); ++member) {
      const NpuRange npus = share_of(network.num_npus(), member, team.size());
      if (member != team.member()) {
        peers_[static_cast<std::size_t>(member)] = {.gives = sources_of(network, own, npus),
                                                    .takes = sources_of(network, npus, own)};
      }
    }
    open_logs();
  }

  [[nodiscard]] bool has(std::uint32_t npu) const { return slot_[npu] != kNone; }
  /// The entries of an NPU of the halo from position `from` on, which no link has looked at yet.
  [[nodiscard]] const Id* entries(std::uint32_t npu, std::uint32_t from) const {
    const Log& log = logs_[slot_[npu]];
    return log.entries.data() + (from - log.begin);
  }
  void append(std::uint32_t npu, Id chunk) { logs_[slot_[npu]].entries.push_back(chunk); }

  /// Forgets what no link will look at any more: those whose destination has everything, and
  /// entries before the pointers of all others, which `pointer` tells by position.
  template <class Pointer>
  void trim(const Pointer& pointer,
            std::span<const std::uint32_t> lengths,
            std::uint32_t num_chunks) {
    for (Log& log : logs_) {
      auto least = log.begin + static_cast<std::uint32_t>(log.entries.size());
      for (const Reading& link : log.links) {
        if (lengths[link.dst] != num_chunks) {
          least = std::min(least, pointer(link.at));
        }
      }
      // Seldom enough that moving the rest costs less than having copied it once.
      const std::size_t read = least - log.begin;
      if (read > log.entries.size() / 2) {
        log.entries.erase(log.entries.begin(),
                          log.entries.begin() + static_cast<std::ptrdiff_t>(read));
        log.begin = least;
      }
    }
  }

  /// Tells the others what its own logs gained in a window, since they had the lengths `before`,
  /// and sets the lengths of those in the halo. After an exact window also when, by `exact`, which
  /// is null otherwise. Returns what all members did together.
  WindowSums exchange(const WindowLog& log,
                      const WindowSums& mine,
                      std::span<const std::uint32_t> before,
                      std::span<std::uint32_t> lengths,
                      ArrivalTimes* exact) {
    std::vector<Packet> packets(peers_.size());
    for (std::size_t member = 0; member < packets.size(); ++member) {
      put(packets[member], mine);
      for (const std::uint32_t npu : peers_[member].takes) {
        const std::uint32_t gained = lengths[npu] - before[npu];
        put(packets[member], gained);
        put_all(packets[member], std::span(log.entries<Id>(npu) + before[npu], gained));
        for (std::uint32_t i = 0; exact != nullptr && i < gained; ++i) {
          put(packets[member], exact->latest(npu, gained - 1 - i));
        }
      }
    }
    packets = team_.exchange(std::move(packets));
    WindowSums sums;
    for (std::size_t member = 0; member < packets.size(); ++member) {
      PacketReader reader(packets[member]);
      sums += reader.get<WindowSums>();
      for (const std::uint32_t npu : peers_[member].gives) {
        const auto gained = reader.get<std::uint32_t>();
        std::vector<Id>& entries = logs_[slot_[npu]].entries;
        entries.resize(entries.size() + gained);
        reader.get_all(std::span(entries).last(gained));
        for (std::uint32_t i = 0; i < gained; ++i) {
          ++lengths[npu];
          if (exact != nullptr) {
            exact->add(npu, lengths[npu], reader.get<GridTime>());
          }
        }
      }
    }
    return sums;
  }

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  /// An in-link of an NPU of our own, by position.
  struct Reading {
    std::uint32_t at = 0;
    std::uint32_t dst = 0;
  };
  /// Another member: of its NPUs those whose entries it gives, of ours those whose it takes.
  struct Peer {
    std::vector<std::uint32_t> gives;
    std::vector<std::uint32_t> takes;
  };
  struct Log {
    /// Those from position `begin` on.
    std::vector<Id> entries;
    std::uint32_t begin = 0;
    std::vector<Reading> links;
  };

  void open_logs() {
    for (std::uint32_t npu = own_.first; npu < own_.end; ++npu) {
      for (std::uint32_t at = network_.first_in(npu); at < network_.end_in(npu); ++at) {
        const std::uint32_t src = network_.in_links()[at].src;
        if (own_.contains(src)) {
          continue;
        }
        if (slot_[src] == kNone) {
          slot_[src] = static_cast<std::uint32_t>(logs_.size());
          logs_.emplace_back();
        }
        logs_[slot_[src]].links.push_back({.at = at, .dst = npu});
      }
    }
  }

  const GatherNetwork& network_;
  Team& team_;
  NpuRange own_;
  /// Per NPU: its log in `logs_`.
  std::vector<std::uint32_t> slot_;
  std::vector<Log> logs_;
  /// Per member; empty for this one.
  std::vector<Peer> peers_;
};

}  // namespace tacos::matching
