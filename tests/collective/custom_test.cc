// SPDX-License-Identifier: MIT
// Collectives from a file: what they mean, what comes back, what is refused.
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tacos/collective.h"

namespace tacos {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kMixed = R"({"name": "mixed", "chunks": [
  {"bytes": 10, "sources": [5], "destinations": [2, 7]},
  {"bytes": 300, "sources": [2, 5, 7], "destinations": [7], "op": "reduce"},
  {"bytes": 1, "sources": [7, 2], "destinations": [5], "op": "copy"}]})";

Collective parsed(const std::string& text, std::optional<Bytes> size = std::nullopt) {
  Result<Collective> made = parse_collective_json(text, "c.json", 8, size);
  EXPECT_TRUE(made) << made.error().to_string();
  return *std::move(made);
}

std::string error_of(const std::string& text, std::optional<Bytes> size = std::nullopt) {
  const Result<Collective> made = parse_collective_json(text, "c.json", 8, size);
  EXPECT_FALSE(made) << text;
  return made ? "" : made.error().to_string();
}

std::string chunk_error(const std::string& members) {
  return error_of(R"({"chunks": [{)" + members + "}]}");
}

TEST(CustomCollective, SaysWhoHasAndWhoNeedsEachChunk) {
  const Collective collective = parsed(kMixed);
  EXPECT_EQ(collective.kind(), CollectiveKind::kCustom);
  EXPECT_EQ(collective.name(), "mixed");
  EXPECT_THAT(collective.participants(), ElementsAre(NodeId(2), NodeId(5), NodeId(7)));
  EXPECT_THAT(collective.sources(ChunkId(0)), ElementsAre(1));
  EXPECT_THAT(collective.destinations(ChunkId(0)), ElementsAre(0, 2));
  EXPECT_THAT(collective.sources(ChunkId(2)), ElementsAre(0, 2));
  EXPECT_TRUE(collective.starts_with(ChunkId(0), 1));
  EXPECT_FALSE(collective.starts_with(ChunkId(0), 0));
  EXPECT_TRUE(collective.ends_with(ChunkId(1), 2));
  EXPECT_FALSE(collective.ends_with(ChunkId(1), 1));
  EXPECT_FALSE(collective.reduces(ChunkId(0)));
  EXPECT_TRUE(collective.reduces(ChunkId(1)));
  EXPECT_TRUE(collective.reduces());
}

TEST(CustomCollective, LaysItsChunksOneAfterTheOther) {
  const Collective collective = parsed(kMixed);
  EXPECT_EQ(collective.size().count, 311);
  EXPECT_FALSE(collective.chunks().by_rule());
  EXPECT_EQ(collective.chunks().offset(ChunkId(2)).count, 310);
  EXPECT_EQ(collective.chunks().bytes(ChunkId(1)).count, 300);
  EXPECT_EQ(collective.chunks().max_bytes().count, 300);
}

TEST(CustomCollective, CutsASizeIntoEqualChunks) {
  const std::string open =
      R"({"chunks": [{"sources": [0], "destinations": [1]}, {"sources": [1], "destinations": [0]}]})";
  EXPECT_EQ(parsed(open).size().count, 1LL << 30U);
  const Collective sized = parsed(open, Bytes{7});
  EXPECT_TRUE(sized.chunks().by_rule());
  EXPECT_EQ(sized.chunks().bytes(ChunkId(0)).count, 3);
  EXPECT_EQ(sized.name(), "c");
  const std::string fixed =
      R"({"size_bytes": 9, "chunks": [{"sources": [0], "destinations": [1]}]})";
  EXPECT_EQ(parsed(fixed).size().count, 9);
  EXPECT_EQ(parsed(fixed, Bytes{5}).size().count, 5);
  EXPECT_THAT(error_of(open, Bytes{1}), HasSubstr("cannot be cut into 2 chunks"));
}

TEST(CustomCollective, ComesBackAsItWas) {
  for (const std::string& text :
       {std::string(kMixed),
        std::string(R"({"size_bytes": 9, "chunks": [{"sources": [0], "destinations": [1]}]})")}) {
    const Collective made = parsed(text);
    EXPECT_EQ(parsed(collective_to_json(made)), made);
  }
  EXPECT_NE(parsed(kMixed), parsed(R"({"chunks": [{"sources": [0], "destinations": [1]}]})"));
}

TEST(CustomCollective, NeedsSourcesAndDestinations) {
  EXPECT_THAT(chunk_error(R"("destinations": [1])"), HasSubstr("chunks[0]: has no source"));
  EXPECT_THAT(chunk_error(R"("sources": [], "destinations": [1])"), HasSubstr("has no source"));
  EXPECT_THAT(chunk_error(R"("sources": [1])"), HasSubstr("chunks[0]: has no destination"));
  EXPECT_THAT(chunk_error(R"("sources": [8], "destinations": [1])"),
              HasSubstr("chunks[0].sources[0]: 8 is not an NPU of the network; NPUs are 0 to 7"));
  EXPECT_THAT(chunk_error(R"("sources": [1], "destinations": [0, 9])"),
              HasSubstr("chunks[0].destinations[1]: 9 is not an NPU"));
  EXPECT_THAT(chunk_error(R"("sources": [1, 1], "destinations": [0])"),
              HasSubstr("lists NPU 1 twice as a source"));
  EXPECT_THAT(chunk_error(R"("sources": 1, "destinations": [0])"), HasSubstr("must be an array"));
  EXPECT_THAT(chunk_error(R"("sources": [-1], "destinations": [0])"), HasSubstr("negative"));
  EXPECT_THAT(chunk_error(R"("sources": ["a"], "destinations": [0])"),
              HasSubstr("must be a number"));
}

TEST(CustomCollective, NeedsSensibleSizes) {
  EXPECT_THAT(chunk_error(R"("sources": [1], "destinations": [0], "bytes": 0)"),
              HasSubstr("chunks[0]: has 0 bytes"));
  EXPECT_THAT(chunk_error(R"("sources": [1], "destinations": [0], "bytes": -5)"),
              HasSubstr("negative"));
  EXPECT_THAT(chunk_error(R"("sources": [1], "destinations": [0], "bytes": 1e30)"),
              HasSubstr("too large"));
  EXPECT_THAT(error_of(kMixed, Bytes{5}), HasSubstr("leave out --size"));
  EXPECT_THAT(error_of(R"({"chunks": [{"sources": [0], "destinations": [1], "bytes": 1},
                                      {"sources": [0], "destinations": [1]}]})"),
              HasSubstr("to some chunks but not to all"));
  EXPECT_THAT(error_of(R"({"size_bytes": 5,
                           "chunks": [{"sources": [0], "destinations": [1], "bytes": 1}]})"),
              HasSubstr("and size_bytes too"));
  const std::string huge = R"({"sources": [0], "destinations": [1], "bytes": 1152921504606846976})";
  EXPECT_THAT(error_of(R"({"chunks": [)" + huge + "," + huge + "]}"), HasSubstr("chunks[1]"));
}

TEST(CustomCollective, SaysWhereItsFileIsWrong) {
  EXPECT_THAT(error_of("{\n \"chunks\": [,]}"), HasSubstr("c.json:2:13"));
  EXPECT_THAT(error_of("[]"), HasSubstr("must be a JSON object with 'chunks'"));
  EXPECT_THAT(error_of("{}"), HasSubstr("must be an array of one chunk or more"));
  EXPECT_THAT(error_of(R"({"chunks": []})"), HasSubstr("one chunk or more"));
  EXPECT_THAT(error_of(R"({"chunk": []})"), HasSubstr("did you mean 'chunks'"));
  EXPECT_THAT(error_of(R"({"chunks": [7]})"), HasSubstr("chunks[0]: must be an object"));
  EXPECT_THAT(error_of(R"({"name": 5, "chunks": [7]})"), HasSubstr("name: must be a string"));
  EXPECT_THAT(chunk_error(R"("source": [1], "destinations": [0])"),
              HasSubstr("did you mean 'sources'"));
  EXPECT_THAT(chunk_error(R"("sources": [1], "destinations": [0], "op": "reduced")"),
              HasSubstr("did you mean 'reduce'"));
  EXPECT_THAT(chunk_error(R"("sources": [1], "destinations": [0], "op": 1)"),
              HasSubstr("chunks[0].op: must be a string, copy or reduce"));
  EXPECT_THAT(chunk_error(R"("sources": [1], "sources": [2], "destinations": [0])"),
              HasSubstr("c.json: chunks[0]: 'sources' is given twice"));
}

TEST(CustomCollective, IsAFileThatExistsOrEndsInJson) {
  EXPECT_TRUE(names_collective_file("x.json"));
  EXPECT_FALSE(names_collective_file("all-gather"));
  EXPECT_FALSE(names_collective_file("broadcast:3"));
  EXPECT_FALSE(names_collective_file("al-gather"));
}

}  // namespace
}  // namespace tacos
