// SPDX-License-Identifier: MIT
#include "synthesis/exchange/routine.h"

#include <algorithm>

namespace tacos::exchange {
namespace {

/// By no entry: what an owner has from the start. Entry k is k + 1.
constexpr std::uint32_t kFromStart = 0;

}  // namespace

void erase_entry(Routine& routine, std::uint32_t at) {
  routine.erase(routine.begin() + at);
  for (Entry& entry : routine) {
    entry.seen -= entry.seen > at ? 1 : 0;
  }
}

void insert_entry(Routine& routine, std::uint32_t at, const Entry& entry) {
  for (Entry& other : routine) {
    other.seen += other.seen > at ? 1 : 0;
  }
  routine.insert(routine.begin() + at, entry);
}

Cargo::Cargo(const Moves& moves, Content content)
    : moves_(moves), content_(content), elements_(moves.elements()), roles_(moves.roles()) {
  const std::size_t places = std::size_t{elements_} * roles_ * roles_;
  offsets_.resize(places);
  before_.resize(places);
  by_entry_.resize(places);
  weight_.resize(places);
  num_offsets_.resize(std::size_t{roles_} * roles_);
}

bool Cargo::load(std::span<const Entry> routine) {
  if (!deal_out(routine)) {
    return false;
  }
  weigh(routine.size());
  find_needs(routine.size());
  return true;
}

bool Cargo::deal_out(std::span<const Entry> routine) {
  std::fill(by_entry_.begin(), by_entry_.end(), kNone);
  std::fill(num_offsets_.begin(), num_offsets_.end(), 0);
  for (std::uint32_t owner = 0; owner < roles_; ++owner) {
    const std::uint32_t row = owner * roles_ + owner;
    by_entry_[std::size_t{row} * elements_] = kFromStart;
    offsets_[std::size_t{row} * elements_] = 0;
    num_offsets_[row] = 1;
  }
  reached_.clear();
  first_.assign(1, 0);
  for (std::uint32_t k = 0; k < routine.size(); ++k) {
    const Move& move = moves_[routine[k].move];
    const std::span<const std::uint32_t> moved = moves_.all_moved(move.shift);
    const std::uint32_t seen = std::min(routine[k].seen, k);
    for (std::uint32_t owner = 0; owner < roles_; ++owner) {
      const std::uint32_t row = owner * roles_ + move.from;
      const std::uint32_t row_there = owner * roles_ + move.to;
      const std::uint32_t here = row * elements_;
      const std::uint32_t there = row_there * elements_;
      // What is there is in the order in which it came.
      for (std::uint32_t i = 0; i < num_offsets_[row]; ++i) {
        const std::uint32_t offset = offsets_[here + i];
        if (by_entry_[here + offset] > seen) {
          break;
        }
        const std::uint32_t to = there + moved[offset];
        if (by_entry_[to] == kNone) {
          by_entry_[to] = k + 1;
          before_[to] = here + offset;
          offsets_[there + num_offsets_[row_there]++] = moved[offset];
          reached_.push_back(to);
        }
      }
    }
    first_.push_back(static_cast<std::uint32_t>(reached_.size()));
  }
  return reached_.size() + roles_ == std::size_t{roles_} * moves_.num_reached();
}

void Cargo::weigh(std::size_t entries) {
  std::fill(weight_.begin(), weight_.end(), 1);
  if (content_ == Content::kPairs) {
    for (std::size_t i = reached_.size(); i-- > 0;) {
      weight_[before_[reached_[i]]] += weight_[reached_[i]];
    }
  }
  parts_.assign(entries, 0);
  for (const std::uint32_t place : reached_) {
    parts_[by_entry_[place] - 1] += weight_[place];
  }
}

void Cargo::find_needs(std::size_t entries) {
  marked_.assign(entries, kNone);
  first_need_.assign(1, 0);
  needs_.clear();
  for (std::uint32_t k = 0; k < entries; ++k) {
    for (const std::uint32_t place : brought(k)) {
      const std::uint32_t by = by_entry_[before_[place]];
      if (by != kFromStart && marked_[by - 1] != k) {
        marked_[by - 1] = k;
        needs_.push_back(by - 1);
      }
    }
    first_need_.push_back(static_cast<std::uint32_t>(needs_.size()));
  }
}

Csr<std::uint32_t> Cargo::beyond() const {
  return {by_entry_.size(), [&](const auto& add) {
            for (const std::uint32_t place : reached_) {
              for (std::uint32_t at = place; by_entry_[at] != kFromStart; at = before_[at]) {
                add(at, place);
              }
            }
          }};
}

}  // namespace tacos::exchange
