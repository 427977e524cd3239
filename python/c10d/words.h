// SPDX-License-Identifier: MIT
// What ranks tell each other beside their data: which collectives they call, that one cannot go on,
// that one leaves. What does not fit together is found out by everybody.
//
// A rank speaks of a call when it begins it, and waits for nobody; others are heard whenever the
// messenger is moved.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "c10d/job.h"
#include "serve/messenger.h"

namespace tacos::torch_backend {

/// That nothing works any more, and why.
[[nodiscard]] inline Error failed(std::string sentence) {
  return {.code = ErrorCode::kInternal, .message = std::move(sentence), .where = {}};
}

class Words {
 public:
  /// Names what a signature says.
  using Describe = std::function<std::string(const Signature&)>;

  /// Listens to the messenger from now on; both must stay where they are.
  Words(Messenger& messenger, std::uint32_t rank, std::uint32_t ranks, Describe describe);
  Words(const Words&) = delete;
  Words& operator=(const Words&) = delete;

  /// Tells all others that this rank calls a collective, and compares it with what they called.
  void call(const Job& job);
  /// Whether all others have called what this rank has.
  [[nodiscard]] bool all_called() const;
  /// One that left without calling what this rank has.
  [[nodiscard]] std::optional<std::uint32_t> deserter() const;
  [[nodiscard]] bool left(std::uint32_t rank) const { return peers_[rank].left; }
  /// Whether somebody's parts of this call are of other sizes; to be asked once, after all called.
  [[nodiscard]] bool unequal(std::uint64_t number) { return unequal_.erase(number) > 0; }

  /// Nothing more will work: all others are told.
  void fail(const Error& error);
  /// Nothing more is wanted: nobody is told.
  void close(const Error& error) { failure_ = error; }
  [[nodiscard]] const std::optional<Error>& failure() const { return failure_; }

  /// Until what was said is on its way, but no longer.
  void flush(std::chrono::milliseconds time);
  /// Waits a little for what others still say of calls that are done, or they would find nobody;
  /// then says that this rank leaves.
  void take_leave(std::chrono::milliseconds patience);

 private:
  struct Peer {
    std::deque<Messenger::Word> words;
    /// So many of its calls have been compared with ours.
    std::uint64_t matched = 0;
    bool left = false;
  };

  void hear(const Messenger::Word& word);
  void match(std::uint32_t member);
  void say_all(const Messenger::Word& word);
  /// Whether any other rank, of those that have not left or of all, is behind this one.
  [[nodiscard]] bool behind(bool of_those_here) const;

  Messenger& messenger_;
  std::uint32_t rank_;
  std::uint32_t ranks_;
  Describe describe_;
  std::vector<Peer> peers_;
  /// Our own calls that not everybody has spoken of, and the number of the first.
  std::deque<Messenger::Word> history_;
  std::uint64_t first_known_ = 0;
  std::uint64_t called_ = 0;
  /// Numbers of calls of which some said that their parts are of other sizes.
  std::set<std::uint64_t> unequal_;
  std::optional<Error> failure_;
};

}  // namespace tacos::torch_backend
