// SPDX-License-Identifier: MIT
#include "base/memory/room.h"

#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "base/memory/huge_vector.h"

namespace tacos {
namespace {

constexpr std::uint64_t kMiB = 1U << 20U;

class Memory : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / fmt::format("tacos-memory-{}", ::getpid());
    write("proc/meminfo", "MemTotal: 8388608 kB\nMemAvailable: 4194304 kB\n");
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  void write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name) << text;
  }
  [[nodiscard]] std::uint64_t available() const {
    return available_memory({.proc = folder_ / "proc", .cgroup = folder_ / "cgroup"}).value_or(0);
  }

  std::filesystem::path folder_;
};

TEST_F(Memory, IsWhatTheMachineHasAvailable) {
  EXPECT_EQ(available(), 4096 * kMiB);
}

TEST_F(Memory, IsNoMoreThanAnyEnclosingControlGroupLeaves) {
  write("proc/self/cgroup", "0::/outer/inner\n");
  write("cgroup/outer/inner/memory.max", "max\n");
  write("cgroup/outer/inner/memory.current", "5\n");
  EXPECT_EQ(available(), 4096 * kMiB);
  write("cgroup/outer/memory.max", fmt::format("{}\n", 1024 * kMiB));
  write("cgroup/outer/memory.current", fmt::format("{}\n", 600 * kMiB));
  EXPECT_EQ(available(), 424 * kMiB);
  // Pages of files can be taken back.
  write("cgroup/outer/memory.stat", fmt::format("anon 7\ninactive_file {}\n", 100 * kMiB));
  EXPECT_EQ(available(), 524 * kMiB);
}

TEST_F(Memory, KnowsControlGroupsOfTheFirstVersion) {
  write("proc/self/cgroup", "4:cpu:/\n5:memory:/job\n");
  write("cgroup/memory/job/memory.limit_in_bytes", fmt::format("{}\n", 300 * kMiB));
  write("cgroup/memory/job/memory.usage_in_bytes", fmt::format("{}\n", 400 * kMiB));
  EXPECT_EQ(available(), 0U);
}

TEST(HugeVector, IsZeroAndCanBeCopied) {
  HugeVector<std::uint32_t> large(std::size_t{5} << 20U);
  EXPECT_EQ(std::count(large.begin(), large.end(), 0U), static_cast<std::ptrdiff_t>(large.size()));
  large[77] = 7;
  const HugeVector<std::uint32_t> copy = large;
  EXPECT_EQ(copy, large);
}

}  // namespace
}  // namespace tacos
