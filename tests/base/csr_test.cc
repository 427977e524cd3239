// SPDX-License-Identifier: MIT
// Lists in one array against lists of lists.
#include "base/csr.h"

#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

namespace tacos {
namespace {

RC_GTEST_PROP(Csr, IsAListOfLists, ()) {
  const auto owners = *rc::gen::inRange<std::uint32_t>(1, 8);
  const auto items = *rc::gen::container<std::vector<std::pair<std::uint32_t, int>>>(
      rc::gen::pair(rc::gen::inRange<std::uint32_t>(0, owners), rc::gen::arbitrary<int>()));
  std::vector<std::vector<int>> naive(owners);
  for (const auto& [owner, item] : items) {
    naive[owner].push_back(item);
  }
  const Csr<int> grouped(owners, [&](const auto& add) {
    for (const auto& [owner, item] : items) {
      add(owner, item);
    }
  });
  Csr<int> appended;
  for (const std::vector<int>& row : naive) {
    for (const int item : row) {
      appended.push_back(item);
    }
    RC_ASSERT(appended.open_row().size() == row.size());
    appended.end_row();
  }
  RC_ASSERT(grouped == appended);
  RC_ASSERT(grouped.all().size() == items.size());
  for (std::uint32_t owner = 0; owner < owners; ++owner) {
    const auto row = grouped[owner];
    RC_ASSERT(std::vector<int>(row.begin(), row.end()) == naive[owner]);
    RC_ASSERT(grouped.first(owner) == row.data() - grouped.all().data());
  }
}

}  // namespace
}  // namespace tacos
