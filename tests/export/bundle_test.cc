// SPDX-License-Identifier: MIT
#include "tacos/bundle.h"

#include <filesystem>
#include <fstream>
#include <sstream>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "base/rng.h"
#include "schedule/builder.h"

namespace tacos {
namespace {

using ::testing::HasSubstr;

class BundleFile : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / fmt::format("tacos-bundle-{}", ::getpid());
    std::filesystem::create_directories(folder_);
    path_ = folder_ / "a.tacos";
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  /// All-Gather of three chunks around a ring of three, by hand.
  static Bundle ring() {
    const Topology topology = *parse_topology_spec("ring:3,lat=0,bw=1GBps");
    ScheduleBuilder builder(topology.num_links());
    // Links of NPU n: 2n to the right, 2n+1 to the left.
    for (std::uint32_t npu = 0; npu < 3; ++npu) {
      for (std::uint32_t side = 0; side < 2; ++side) {
        builder.append(Ticks{0}, Op::kCopy, LinkId(2 * npu + side), ChunkId(npu), Ticks{10'000});
      }
    }
    return {.topology = topology,
            .collective = *Collective::over_all(CollectiveKind::kAllGather, {30}, 1, 3),
            .link_model = LinkModel::kHold,
            .schedule = std::move(builder).build(),
            .engine = "hand",
            .seed = 3};
  }
  /// A chunk of one byte to the right, and the sum of all at NPU 0.
  static Bundle custom() {
    const std::string text = R"({"name": "odd", "chunks": [
      {"bytes": 1, "sources": [0], "destinations": [1]},
      {"bytes": 9, "sources": [0, 1, 2], "destinations": [0], "op": "reduce"}]})";
    Bundle bundle = ring();
    bundle.collective = parse_collective_json(text, "odd.json", 3).value();
    ScheduleBuilder builder(bundle.topology.num_links());
    builder.append(Ticks{0}, Op::kCopy, LinkId(0), ChunkId(0), Ticks{1'000});
    builder.append(Ticks{0}, Op::kReduce, LinkId(3), ChunkId(1), Ticks{9'000});
    builder.append(Ticks{0}, Op::kReduce, LinkId(4), ChunkId(1), Ticks{9'000});
    bundle.schedule = std::move(builder).build();
    return bundle;
  }
  [[nodiscard]] std::string contents() const {
    std::ifstream file(path_, std::ios::binary);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
  }
  void replace_contents(const std::string& text) const {
    std::ofstream(path_, std::ios::binary) << text;
  }
  [[nodiscard]] std::string read_error() const {
    const Result<Bundle> read = read_bundle(path_);
    if (!read) {
      return read.error().to_string();
    }
    TransferBatch batch;
    const auto cursor = read->schedule.cursor();
    for (;;) {
      if (const Status next = cursor->next(batch); !next) {
        return next.error().to_string();
      }
      if (batch.empty()) {
        return "";
      }
    }
  }

  std::filesystem::path folder_;
  std::string path_;
};

TEST_F(BundleFile, KeepsCustomCollectives) {
  const Bundle made = custom();
  ASSERT_TRUE(write_bundle(made, path_));
  const Result<Bundle> back = read_bundle(path_);
  ASSERT_TRUE(back) << back.error().to_string();
  EXPECT_EQ(back->collective, made.collective);
  EXPECT_EQ(back->collective.name(), "odd");
  EXPECT_EQ(back->schedule.totals(), made.schedule.totals());
}

TEST_F(BundleFile, CanBeWrittenAgain) {
  ASSERT_TRUE(write_bundle(ring(), path_));
  const std::string written = contents();
  const Result<Bundle> back = read_bundle(path_);
  ASSERT_TRUE(back) << back.error().to_string();
  const std::string again = path_ + "-again";
  const Status copied = write_bundle(*back, again);
  ASSERT_TRUE(copied) << copied.error().to_string();
  path_ = again;
  EXPECT_EQ(contents(), written);
}

TEST_F(BundleFile, HoldsAllThatWasWritten) {
  const Bundle bundle = ring();
  ASSERT_TRUE(write_bundle(bundle, path_));
  const Result<Bundle> back = read_bundle(path_);
  ASSERT_TRUE(back) << back.error().to_string();
  EXPECT_EQ(back->topology, bundle.topology);
  EXPECT_EQ(back->topology.name(), bundle.topology.name());
  EXPECT_EQ(back->collective, bundle.collective);
  EXPECT_EQ(back->engine, "hand");
  EXPECT_EQ(back->seed, 3U);
  EXPECT_EQ(back->schedule.totals(), bundle.schedule.totals());
  EXPECT_EQ(read_error(), "");
}

TEST_F(BundleFile, LeavesNothingBesideIt) {
  ASSERT_TRUE(write_bundle(ring(), path_));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 1);
  const Status failed = write_bundle(ring(), (folder_ / "no" / "such" / "folder.tacos").string());
  ASSERT_FALSE(failed);
  EXPECT_THAT(failed.error().to_string(), HasSubstr("cannot be written"));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 1);
}

TEST_F(BundleFile, KeepsTheOldFileWhenTheNewOneFails) {
  ASSERT_TRUE(write_bundle(ring(), path_));
  const std::string before = contents();
  EXPECT_FALSE(write_bundle(ring(), folder_.string()));
  EXPECT_EQ(contents(), before);
}

TEST_F(BundleFile, IsRefusedWhenCutShortAnywhere) {
  ASSERT_TRUE(write_bundle(ring(), path_));
  const std::string whole = contents();
  for (std::size_t length = 0; length < whole.size(); ++length) {
    replace_contents(whole.substr(0, length));
    EXPECT_THAT(read_error(), HasSubstr("not a whole tacos schedule file")) << length;
  }
}

TEST_F(BundleFile, IsRefusedWhenAnyByteChanges) {
  ASSERT_TRUE(write_bundle(ring(), path_));
  const std::string whole = contents();
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string broken = whole;
    broken[at] = static_cast<char>(broken[at] ^ 0x20);
    replace_contents(broken);
    EXPECT_NE(read_error(), "") << at;
  }
}

TEST_F(BundleFile, IsRefusedWhenItIsSomethingElse) {
  replace_contents("hello, this is no schedule at all");
  EXPECT_THAT(read_error(), HasSubstr("does not begin with TACOSCH"));
  replace_contents("");
  EXPECT_THAT(read_error(), HasSubstr("does not begin with TACOSCH"));
  EXPECT_THAT(read_bundle(folder_.string()).error().to_string(), HasSubstr("not a regular file"));
  EXPECT_THAT(read_bundle("no-such.tacos").error().to_string(), HasSubstr("cannot be read"));
}

TEST_F(BundleFile, HasATraceForPeople) {
  ASSERT_TRUE(write_trace(ring(), path_));
  EXPECT_EQ(contents(),
            "0 10000 0 1 0 copy 0\n"
            "0 10000 0 2 0 copy 1\n"
            "0 10000 1 2 1 copy 2\n"
            "0 10000 1 0 1 copy 3\n"
            "0 10000 2 0 2 copy 4\n"
            "0 10000 2 1 2 copy 5\n");
}

TEST_F(BundleFile, TracesRoutesAndSharedTransfers) {
  TopologyBuilder star("star", 2, 1);
  star.add_link({NodeId(0), NodeId(2), {1'000'000'000}, {100}});
  star.add_link({NodeId(2), NodeId(1), {500'000'000}, {200}});
  ScheduleBuilder builder(2);
  const std::vector<LinkId> route{LinkId(0), LinkId(1)};
  const std::vector<ChunkId> chunks{ChunkId(0), ChunkId(1)};
  builder.append({Ticks{5}, Op::kReduce, route, chunks}, Ticks{40'305});
  const Bundle bundle{.topology = *std::move(star).build(),
                      .collective = *Collective::over_all(CollectiveKind::kAllGather, {40}, 2, 2),
                      .link_model = LinkModel::kHold,
                      .schedule = std::move(builder).build(),
                      .engine = "hand",
                      .seed = 0};
  ASSERT_TRUE(write_trace(bundle, path_));
  EXPECT_EQ(contents(), "5 40305 0 1 0 reduce 0,1\n5 40305 0 1 1 reduce 0,1\n");
}

}  // namespace
}  // namespace tacos
