// SPDX-License-Identifier: MIT
#include "schedule/blocks/columns.h"

#include <gtest/gtest.h>

namespace tacos {
namespace {

using Numbers = std::vector<std::uint64_t>;

TEST(Columns, TakeTheFewestBytesThatHoldTheDifferences) {
  constexpr std::uint64_t kBase = std::uint64_t{1} << 40U;
  for (const auto& [spread, width] : {std::pair<std::uint64_t, std::size_t>{0, 0},
                                      {255, 1},
                                      {256, 2},
                                      {65'535, 2},
                                      {65'536, 4},
                                      {(std::uint64_t{1} << 32U) - 1, 4},
                                      {std::uint64_t{1} << 32U, 8}}) {
    const Numbers numbers{kBase + spread, kBase, kBase + spread / 2};
    std::vector<std::byte> bytes;
    encode_column(bytes, numbers);
    EXPECT_EQ(bytes.size(), sizeof(ColumnHeader) + 3 * width) << spread;
    Numbers read;
    ColumnReader reader(bytes);
    ASSERT_TRUE(reader.read(read, 3)) << spread;
    EXPECT_TRUE(reader.done());
    EXPECT_EQ(read, numbers);
  }
}

TEST(Columns, RefuseWhatIsCutOffTooLongOrOfUnknownWidth) {
  std::vector<std::byte> bytes;
  encode_column(bytes, Numbers{1, 2, 3});
  Column column;
  EXPECT_FALSE(ColumnReader(bytes).read(column, 2));
  EXPECT_FALSE(ColumnReader(std::span(bytes).first(bytes.size() - 1)).read(column, 3));
  EXPECT_FALSE(ColumnReader(std::span(bytes).first(3)).read(column, 3));
  bytes[offsetof(ColumnHeader, width)] = std::byte{3};
  EXPECT_FALSE(ColumnReader(bytes).read(column, 3));
}

}  // namespace
}  // namespace tacos
