// SPDX-License-Identifier: MIT
#include "base/memory/zeroed_bytes.h"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <span>
#include <system_error>
#include <utility>

#include <gtest/gtest.h>

namespace tacos {
namespace {

std::span<std::byte> bytes_of(ZeroedBytes& bytes, std::size_t count) {
  return {static_cast<std::byte*>(bytes.data()), count};
}

TEST(ZeroedBytes, AreZeroAndKeepWhatIsWritten) {
  constexpr std::size_t kCount = 100'000;
  for (const std::string& directory : {std::string(), ::testing::TempDir()}) {
    ZeroedBytes first(kCount, directory);
    const auto bytes = bytes_of(first, kCount);
    EXPECT_TRUE(
        std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b == std::byte{0}; }));
    bytes[kCount - 1] = std::byte{7};
    ZeroedBytes moved(std::move(first));
    EXPECT_EQ(bytes_of(moved, kCount)[kCount - 1], std::byte{7});
    EXPECT_EQ(moved.memory_bytes(), directory.empty() ? kCount : 0);
  }
}

TEST(ZeroedBytes, LeaveNothingInTheDirectory) {
  const std::filesystem::path directory =
      std::filesystem::path(::testing::TempDir()) / "zeroed-bytes-test";
  std::filesystem::create_directories(directory);
  const ZeroedBytes bytes(5000, directory.string());
  EXPECT_TRUE(std::filesystem::is_empty(directory));
}

TEST(ZeroedBytes, ThrowWhereNoFileCanBe) {
  EXPECT_THROW(ZeroedBytes(1, "/nowhere/at/all"), std::system_error);
}

}  // namespace
}  // namespace tacos
