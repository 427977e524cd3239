// SPDX-License-Identifier: MIT
// O(ranks) words for a collective.
#include "c10d/words.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace tacos::torch_backend {
namespace {

using Clock = std::chrono::steady_clock;

enum WordKind : std::uint32_t {
  kCall,     ///< a collective, by its number in the group
  kRefusal,  ///< the same, but this rank cannot do it
  kPerhaps,  ///< the same, with parts that may be of different sizes
  kFailure,  ///< nothing more will work
  kBye,      ///< this rank leaves
};

/// With which the words of calls are compared; nothing is compared with one that was refused.
bool fits(const Messenger::Word& mine, const Messenger::Word& theirs) {
  return mine.kind == kRefusal || (mine.kind == theirs.kind && mine.value == theirs.value &&
                                   (mine.kind == kPerhaps || mine.count == theirs.count));
}

}  // namespace

Words::Words(Messenger& messenger, std::uint32_t rank, std::uint32_t ranks, Describe describe)
    : messenger_(messenger),
      rank_(rank),
      ranks_(ranks),
      describe_(std::move(describe)),
      peers_(ranks) {
  messenger_.listen([this](const Messenger::Word& word) { hear(word); });
}

void Words::say_all(const Messenger::Word& word) {
  for (std::uint32_t other = 0; other < ranks_; ++other) {
    if (other != rank_) {
      messenger_.say(other, word);
    }
  }
}

void Words::call(const Job& job) {
  Messenger::Word word{.from = rank_,
                       .kind = !job.refusal.empty()   ? kRefusal
                               : job.may_be_unequal() ? kPerhaps
                                                      : kCall,
                       .number = job.number,
                       .value = job.signature.value,
                       .count = job.signature.count,
                       .text = job.refusal};
  say_all(word);
  history_.push_back(std::move(word));
  ++called_;
  for (std::uint32_t other = 0; other < ranks_; ++other) {
    if (other != rank_) {
      match(other);
    }
  }
}

void Words::hear(const Messenger::Word& word) {
  Peer& peer = peers_[word.from];
  switch (word.kind) {
    case kCall:
    case kRefusal:
    case kPerhaps:
      peer.words.push_back(word);
      match(word.from);
      break;
    case kFailure:
      if (!failure_) {
        fail(failed(fmt::format("rank {} says: {}", word.from, word.text)));
      }
      break;
    case kBye:
      peer.left = true;
      messenger_.forget(word.from);
      break;
    default:
      break;
  }
}

void Words::match(std::uint32_t member) {
  Peer& peer = peers_[member];
  while (!failure_ && peer.matched < called_ && !peer.words.empty()) {
    const Messenger::Word theirs = std::move(peer.words.front());
    const Messenger::Word& mine = history_[peer.matched - first_known_];
    peer.words.pop_front();
    ++peer.matched;
    if (fits(mine, theirs)) {
      if (mine.count != theirs.count && mine.kind == kPerhaps) {
        unequal_.insert(mine.number);
      }
      continue;
    }
    const Signature own{.value = mine.value, .count = mine.count};
    const Signature other{.value = theirs.value, .count = theirs.count};
    fail(theirs.kind == kRefusal
             ? input_error(fmt::format("rank {} cannot do its part: {}", member, theirs.text))
             : input_error(fmt::format(
                   "rank {} calls {} where rank {} calls {}; all ranks must call the same "
                   "collectives in the same order, with the same sizes and types",
                   member,
                   describe_(other),
                   rank_,
                   describe_(own))));
  }
  const auto needs_first = [&](const Peer& one) {
    return &one != &peers_[rank_] && !one.left && one.matched <= first_known_;
  };
  while (!history_.empty() && std::none_of(peers_.begin(), peers_.end(), needs_first)) {
    history_.pop_front();
    ++first_known_;
  }
}

bool Words::behind(bool of_those_here) const {
  for (std::uint32_t other = 0; other < ranks_; ++other) {
    if (other != rank_ && peers_[other].matched < called_ &&
        !(of_those_here && peers_[other].left)) {
      return true;
    }
  }
  return false;
}

bool Words::all_called() const {
  return !behind(false);
}

std::optional<std::uint32_t> Words::deserter() const {
  for (std::uint32_t other = 0; other < ranks_; ++other) {
    if (other != rank_ && peers_[other].left && peers_[other].matched < called_) {
      return other;
    }
  }
  return std::nullopt;
}

void Words::fail(const Error& error) {
  failure_ = error;
  say_all({.from = rank_,
           .kind = kFailure,
           .number = 0,
           .value = 0,
           .count = 0,
           .text = error.to_string()});
}

void Words::flush(std::chrono::milliseconds time) {
  const Clock::time_point end = Clock::now() + time;
  for (std::uint32_t looks = 0; !messenger_.quiet() && Clock::now() < end; ++looks) {
    if (!messenger_.progress()) {
      return;
    }
    messenger_.pause(looks);
  }
}

void Words::take_leave(std::chrono::milliseconds patience) {
  if (failure_) {
    // All know; and memory that messages were to be written to may be gone.
    return;
  }
  const Clock::time_point end = Clock::now() + patience;
  for (std::uint32_t looks = 0; !failure_ && behind(true) && Clock::now() < end; ++looks) {
    const Result<bool> moved = messenger_.progress();
    if (!moved) {
      return;
    }
    looks = *moved ? 0 : looks;
    messenger_.pause(looks);
  }
  say_all({.from = rank_, .kind = kBye, .number = 0, .value = 0, .count = 0, .text = {}});
  flush(patience);
}

}  // namespace tacos::torch_backend
