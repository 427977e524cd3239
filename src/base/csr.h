// SPDX-License-Identifier: MIT
// Lists of items, one for each owner 0, 1, ..., all in one array: compressed sparse rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

namespace tacos {

template <class Item>
class Csr {
 public:
  /// No owners; every end_row() makes one.
  Csr() = default;
  /// `each(add)` calls add(owner, item) for every item, and is called twice: items of an owner stay
  /// in that order. O(owners + items).
  template <class Each>
  Csr(std::size_t owners, const Each& each) : first_(owners + 1, 0) {
    each([&](std::size_t owner, const Item& /*item*/) { ++first_[owner + 1]; });
    std::partial_sum(first_.begin(), first_.end(), first_.begin());
    items_.resize(first_.back());
    std::vector<std::uint32_t> next(first_.begin(), first_.end() - 1);
    each([&](std::size_t owner, const Item& item) { items_[next[owner]++] = item; });
  }

  [[nodiscard]] std::span<const Item> operator[](std::size_t owner) const {
    return std::span(items_).subspan(first_[owner], first_[owner + 1] - first_[owner]);
  }
  [[nodiscard]] std::size_t num_owners() const { return first_.size() - 1; }
  /// Where the items of an owner begin among all().
  [[nodiscard]] std::uint32_t first(std::size_t owner) const { return first_[owner]; }
  [[nodiscard]] std::span<const Item> all() const { return items_; }

  /// To the owner that the next end_row() is for.
  void push_back(const Item& item) { items_.push_back(item); }
  [[nodiscard]] std::span<const Item> open_row() const {
    return std::span(items_).subspan(first_.back());
  }
  void end_row() { first_.push_back(static_cast<std::uint32_t>(items_.size())); }

  friend bool operator==(const Csr&, const Csr&) = default;

 private:
  std::vector<std::uint32_t> first_{0};
  std::vector<Item> items_;
};

}  // namespace tacos
