// SPDX-License-Identifier: MIT
#include "base/text/json_reader.h"

#include <limits>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tacos {
namespace {

using ::testing::HasSubstr;

std::string error_of(const std::string& text) {
  const Result<Json> json = parse_json(text, "a.json");
  EXPECT_FALSE(json) << text;
  return json ? "" : json.error().to_string();
}

std::string number_error(const std::string& number, std::uint64_t largest) {
  const Result<std::uint64_t> value = whole_number(Json::parse(number), "a.json", "x", largest);
  EXPECT_FALSE(value) << number;
  return value ? "" : value.error().to_string();
}

TEST(JsonReader, BuildsWhatTheLibraryBuilds) {
  for (const char* text :
       {"null",
        "[]",
        "{}",
        R"([1, -2, 3.5, true, false, null, "text", [[]], {"a": {}}])",
        R"({"a": [1, {"b": [2, 3]}, []], "c": {"a": "\u0000"}, "": 18446744073709551615})",
        "\"alone\""}) {
    EXPECT_EQ(*parse_json(text, "a.json"), Json::parse(text)) << text;
  }
}

TEST(JsonReader, RefusesAKeyThatIsGivenTwice) {
  EXPECT_EQ(error_of(R"({"a": 1, "b": 2, "a": 1})"), "a.json: 'a' is given twice");
  EXPECT_EQ(error_of(R"({"a": [0, {"b": {"c": 1, "c": 2}}]})"),
            "a.json: a[1].b: 'c' is given twice");
  EXPECT_EQ(error_of(R"([[], [{"x": 1}, {"x": 1, "x": null}]])"),
            "a.json: [1][1]: 'x' is given twice");
  EXPECT_TRUE(parse_json(R"([{"a": 1}, {"a": {"a": 2}}])", "a.json"));
}

TEST(JsonReader, SaysWhereTextIsNoJson) {
  EXPECT_EQ(error_of("{\n \"a\": tru\n}"), "a.json:2:10: is not valid JSON here");
  EXPECT_EQ(error_of("[1, 1e999]"), "a.json:1:9: a number ends here that is too large");
  EXPECT_EQ(error_of(std::string("[1]\n\0 2", 7)),
            "a.json:2:1: has a NUL byte here, so it is not JSON");
  EXPECT_THAT(error_of("[1] 2"), HasSubstr("a.json:1:5"));
  EXPECT_THAT(error_of("\"\xff\""), HasSubstr("is not valid JSON here"));
}

TEST(JsonReader, RefusesWhatIsNestedTooDeeply) {
  EXPECT_TRUE(parse_json(std::string(60, '[') + std::string(60, ']'), "a.json"));
  EXPECT_THAT(error_of(std::string(1'000'000, '[')), HasSubstr("is nested too deeply"));
}

TEST(JsonReader, ReadsWholeNumbersExactly) {
  constexpr std::uint64_t kAll = std::numeric_limits<std::uint64_t>::max();
  EXPECT_EQ(*whole_number(Json::parse("18446744073709551615"), "", "", kAll), kAll);
  EXPECT_EQ(*whole_number(Json::parse("5e10"), "", "", kAll), 50'000'000'000U);
  EXPECT_EQ(*whole_number(Json::parse("0"), "", "", 0), 0U);
  EXPECT_EQ(number_error("9223372036854775808", 9223372036854775807U),
            "a.json: x: 9223372036854775808 is too large");
  for (const char* number : {"1e300", "18446744073709551616", "1.8446744073709552e19"}) {
    EXPECT_THAT(number_error(number, kAll), HasSubstr("is too large")) << number;
  }
  EXPECT_THAT(number_error("-1", kAll), HasSubstr("-1 is negative"));
  EXPECT_THAT(number_error("1.5", kAll), HasSubstr("1.5 is not a whole number"));
  EXPECT_THAT(number_error("\"1\"", kAll), HasSubstr("must be a number, not string"));
}

}  // namespace
}  // namespace tacos
