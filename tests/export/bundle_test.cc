// SPDX-License-Identifier: MIT
#include "tacos/bundle.h"

#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>
#include <zlib.h>

#include "base/numbers/rng.h"
#include "schedule/builder.h"
#include "schedule/periodic/timetable.h"
#include "support/forms.h"
#include "support/listed_schedule.h"

namespace tacos {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

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
  /// NPU 0's chunk to both others, three times.
  static Bundle periodic() {
    Bundle bundle = ring();
    bundle.collective = *Collective::over_all(CollectiveKind::kBroadcast, {30}, 3, 3);
    bundle.schedule =
        make_periodic_schedule({.period = {10'000},
                                .rounds = 3,
                                .stride = 1,
                                .entries = {{.place = {0}, .link = 0}, {.place = {0}, .link = 1}}},
                               Ticks{30'000});
    return bundle;
  }
  /// The ring's links with a chunk that starts at NPU 0.
  static Bundle broadcast() {
    Bundle bundle = ring();
    bundle.collective = *Collective::over_all(CollectiveKind::kBroadcast, {30}, 1, 3);
    return bundle;
  }
  /// Writes a bundle with other words in one of its sections, checksum made anew.
  void write_changed(const Bundle& bundle,
                     const std::string& tag,
                     const std::string& before,
                     const std::string& after) const {
    ASSERT_TRUE(write_bundle(bundle, path_));
    std::string text = contents();
    const std::size_t section = text.find(tag);
    std::uint64_t length = payload_length(text, section);
    std::string payload = text.substr(section + 16, length);
    ASSERT_NE(payload.find(before), std::string::npos) << payload;
    payload.replace(payload.find(before), before.size(), after);
    const auto crc = static_cast<std::uint32_t>(::crc32(
        0, reinterpret_cast<const Bytef*>(payload.data()), static_cast<uInt>(payload.size())));
    text.replace(section + 16, length, payload);
    length = payload.size();
    std::memcpy(text.data() + section + 4, &crc, sizeof crc);
    std::memcpy(text.data() + section + 8, &length, sizeof length);
    replace_contents(text);
  }
  static std::uint64_t payload_length(const std::string& text, std::size_t section) {
    std::uint64_t length = 0;
    std::memcpy(&length, text.data() + section + 8, sizeof length);
    return length;
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
  /// Where a file of periodic() differs from one of ring(); of that the beginning.
  static std::size_t begin_of_news(const std::string& whole) {
    const std::size_t section = whole.find("PERD");
    return section == std::string::npos ? 0 : section;
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
  for (const Bundle& bundle : {ring(), periodic()}) {
    ASSERT_TRUE(write_bundle(bundle, path_));
    const Result<Bundle> back = read_bundle(path_);
    ASSERT_TRUE(back) << back.error().to_string();
    EXPECT_EQ(back->topology, bundle.topology);
    EXPECT_EQ(back->topology.name(), bundle.topology.name());
    EXPECT_EQ(back->collective, bundle.collective);
    EXPECT_EQ(back->engine, "hand");
    EXPECT_EQ(back->seed, 3U);
    EXPECT_EQ(back->schedule.totals(), bundle.schedule.totals());
    EXPECT_TRUE(test::listed(back->schedule) == test::listed(bundle.schedule));
    EXPECT_EQ(read_error(), "");
  }
}

TEST_F(BundleFile, KeepsATimetableAsItIs) {
  ASSERT_TRUE(write_bundle(periodic(), path_));
  const Result<Bundle> back = read_bundle(path_);
  ASSERT_TRUE(back) << back.error().to_string();
  const auto* const timetable = testing::form_of<Timetable>(back->schedule);
  ASSERT_NE(timetable, nullptr);
  EXPECT_EQ(*timetable, *testing::form_of<Timetable>(periodic().schedule));
  EXPECT_EQ(test::listed(back->schedule).size(), 6U);
}

TEST_F(BundleFile, RefusesATimetableForAnotherCollective) {
  write_changed(
      periodic(), "HEAD", R"("chunk_argument":3,"chunks":3)", R"("chunk_argument":4,"chunks":4)");
  EXPECT_THAT(read_error(), HasSubstr("its timetable makes no sense"));
}

TEST_F(BundleFile, RefusesAShortFormOfNothing) {
  ASSERT_TRUE(write_bundle(periodic(), path_));
  const std::string whole = contents();
  const std::size_t section = whole.find("PERD");
  const std::string nothing(12, '\0');  // its checksum and length, both 0
  for (const std::string tag : {"PERD", "PTRN", "ORBT"}) {
    std::string text = whole;
    text.replace(section, 16 + payload_length(whole, section), tag + nothing);
    replace_contents(text);
    EXPECT_THAT(read_error(), HasSubstr("makes no sense")) << tag;
  }
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
  for (const Bundle& bundle : {ring(), periodic()}) {
    ASSERT_TRUE(write_bundle(bundle, path_));
    const std::string whole = contents();
    for (std::size_t length = begin_of_news(whole); length < whole.size(); ++length) {
      replace_contents(whole.substr(0, length));
      EXPECT_THAT(read_error(), HasSubstr("not a whole tacos schedule file")) << length;
    }
  }
}

TEST_F(BundleFile, IsRefusedWhenAnyByteChanges) {
  for (const Bundle& bundle : {ring(), periodic()}) {
    ASSERT_TRUE(write_bundle(bundle, path_));
    const std::string whole = contents();
    for (std::size_t at = begin_of_news(whole); at < whole.size(); ++at) {
      std::string broken = whole;
      broken[at] = static_cast<char>(broken[at] ^ 0x20);
      replace_contents(broken);
      EXPECT_NE(read_error(), "") << at;
    }
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

TEST_F(BundleFile, SaysWhatIsWrongInItsHead) {
  const std::vector<std::pair<std::string, std::string>> wrong{
      {R"("root":1e300)", "collective.root: 1e+300 is too large"},
      {R"("root":-1)", "collective.root: -1 is negative"},
      {R"("root":4294967297)", "collective.root: 4294967297 is too large"},
      {R"("root":"0")", "collective.root: must be a number"},
      {R"("root":1,"root":2)", "collective: 'root' is given twice"}};
  for (const auto& [member, sentence] : wrong) {
    write_changed(broadcast(), "HEAD", R"("root":0)", member);
    EXPECT_THAT(read_error(), HasSubstr("a.tacos (head): " + sentence));
  }
}

TEST_F(BundleFile, ListsEveryParticipantOnce) {
  const std::vector<std::pair<std::string, std::string>> wrong{
      {"[[0,1],[1,2]]", "range 1-2 repeats an NPU or is out of order"},
      {"[[1,2],[0,0]]", "range 0-0 repeats an NPU or is out of order"},
      {"[[2,0]]", "range 2-0 repeats an NPU or is out of order"},
      {"[[0,3]]", "3 is too large"},
      {"[[0,1,2]]", "must be a list of ranges [first, last]"},
      {"[0,1,2]", "must be a list of ranges [first, last]"},
      {"{}", "must be a list of ranges [first, last]"}};
  for (const Bundle& bundle : {ring(), custom()}) {
    for (const auto& [ranges, sentence] : wrong) {
      write_changed(bundle, "HEAD", "[[0,2]]", ranges);
      EXPECT_THAT(read_error(), HasSubstr("collective.participants: " + sentence)) << ranges;
    }
  }
  write_changed(custom(), "HEAD", "[[0,2]]", "[[0,1]]");
  EXPECT_THAT(read_error(), HasSubstr("its participants are not those of its chunks"));
}

TEST_F(BundleFile, SaysWhatItLacksInItsOwnWords) {
  const std::vector<std::array<std::string, 3>> wrong{
      {R"("engine":"hand",)", "", "(head): 'engine' is missing"},
      {R"("kind":"all-gather")", R"("kind":3)", "(head): collective.kind: must be a string"},
      {R"("kind":"all-gather")", R"("kind":"al-gather")", "did you mean 'all-gather'"},
      {R"("chunks":3)", R"("chunks":4)", "(head): collective: says 4 chunks, but has 3"},
      {R"("version":2)", R"("version":3)", "version: is 3; this program reads versions 1 to 2"},
      {R"("form":"direct")", R"("form":"gatherd")", "form: unknown form 'gatherd'; did you mean"},
      {R"("form":"direct")", R"("form":"gathered")", "all-gather has no gathered form"},
      {R"("version":2)", R"("version":1e999)", "a number ends here that is too large"},
      {R"("seed":3)",
       R"("seed":18446744073709551616)",
       "seed: 1.8446744073709552e+19 is too large"}};
  for (const auto& [before, after, sentence] : wrong) {
    write_changed(ring(), "HEAD", before, after);
    EXPECT_THAT(read_error(), HasSubstr(sentence));
    EXPECT_THAT(read_error(), Not(HasSubstr("json.exception")));
  }
  for (const char* hash :
       {"", "xyz", "-0123456789abcde", "0x23456789abcdef", "0123456789abcdef0"}) {
    write_changed(
        ring(), "TAIL", R"("schedule_hash":")", fmt::format(R"("schedule_hash":"{}","x":")", hash));
    EXPECT_THAT(read_error(), HasSubstr("(tail): schedule_hash: must be 16 hex digits")) << hash;
  }
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
