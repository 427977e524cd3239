// SPDX-License-Identifier: MIT
#include "base/text/quantity.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tacos {
namespace {

using ::testing::HasSubstr;

TEST(Quantity, ReadsSizesExactly) {
  EXPECT_EQ(parse_size("1GiB")->count, 1LL << 30U);
  EXPECT_EQ(parse_size("1GB")->count, 1'000'000'000);
  EXPECT_EQ(parse_size("1.5KB")->count, 1500);
  EXPECT_EQ(parse_size("42")->count, 42);
  EXPECT_EQ(parse_size("1e9")->count, 1'000'000'000);
  EXPECT_EQ(parse_size("0.5TiB")->count, 1LL << 39U);
}

TEST(Quantity, ReadsBandwidthsInBitsAndBytes) {
  EXPECT_EQ(parse_bandwidth("50GBps")->bytes_per_second, 50'000'000'000);
  EXPECT_EQ(parse_bandwidth("100Gbps")->bytes_per_second, 12'500'000'000);
  EXPECT_EQ(parse_bandwidth("50GiBps")->bytes_per_second, 50LL << 30U);
  EXPECT_EQ(parse_bandwidth("0.1GBps")->bytes_per_second, 100'000'000);
}

TEST(Quantity, ReadsTimesToThePicosecond) {
  EXPECT_EQ(parse_time("0.5us")->ps, 500'000);
  EXPECT_EQ(parse_time("0.1us")->ps, 100'000);
  EXPECT_EQ(parse_time("0")->ps, 0);
  EXPECT_EQ(parse_time("3s")->ps, 3'000'000'000'000);
}

TEST(Quantity, RefusesWhatIsNoQuantity) {
  for (const char* text : {"",
                           "abc",
                           "nan",
                           "inf",
                           "-1GB",
                           "-5",
                           "0",
                           "0GiB",
                           "1.5B",
                           "1QB",
                           "1e99",
                           "99999999999999999999999999999999999999999TB",
                           "1 GB",
                           "GB",
                           ".",
                           "-"}) {
    EXPECT_FALSE(parse_size(text)) << text;
  }
  for (const char* text :
       {"", "0GBps", "-1GBps", "nan", "inf", "infGBps", "50", "50GB", "1e40GBps"}) {
    EXPECT_FALSE(parse_bandwidth(text)) << text;
  }
  for (const char* text : {"", "-1us", "nanus", "5", "1e30s", "1h"}) {
    EXPECT_FALSE(parse_time(text)) << text;
  }
}

TEST(Quantity, SaysWhatWasMeant) {
  EXPECT_THAT(parse_bandwidth("50GBp").error().message, HasSubstr("did you mean 'GBps'"));
  EXPECT_THAT(parse_bandwidth("50").error().message, HasSubstr("has no unit"));
  EXPECT_THAT(parse_size("-1GB").error().message, HasSubstr("is negative"));
  EXPECT_THAT(parse_size(std::string(5000, '7')).error().message, HasSubstr("too many digits"));
  EXPECT_THAT(parse_size("1MIB").error().message, HasSubstr("did you mean 'MiB'"));
}

TEST(Quantity, SuggestsNoUnitOfAnotherMagnitude) {
  for (const char* text : {"1EiB", "1PB"}) {
    EXPECT_THAT(parse_size(text).error().message, HasSubstr("known are B, KB")) << text;
  }
  EXPECT_THAT(parse_bandwidth("50gbps").error().message, HasSubstr("known are"))
      << "bits or bytes?";
}

TEST(Quantity, ReadsWholeNumbersAsDecimal) {
  EXPECT_EQ(*parse_whole("12", 0, 100), 12U);
  EXPECT_EQ(*parse_whole("010", 0, 100), 10U);
  EXPECT_EQ(*parse_whole("18446744073709551615", 0, ~std::uint64_t{0}), ~std::uint64_t{0});
  for (const char* text : {"", "-1", "+1", "0x10", "1e3", "1.0", " 1", "1 ", "x"}) {
    EXPECT_THAT(parse_whole(text, 0, 100).error().message,
                HasSubstr("is not a whole number, 0 or more"))
        << text;
  }
  EXPECT_THAT(parse_whole("0", 1, 100).error().message, HasSubstr("1 or more"));
  for (const char* text : {"101", "99999999999999999999"}) {
    EXPECT_THAT(parse_whole(text, 0, 100).error().message, HasSubstr("the most is 100")) << text;
  }
}

TEST(Quantity, IsWrittenForPeople) {
  EXPECT_EQ(format_size(Bytes{1LL << 30U}), "1 GiB");
  EXPECT_EQ(format_size(Bytes{1'000'000'000}), "1 GB");
  EXPECT_EQ(format_size(Bytes{1'500'000}), "1,500 KB");
  EXPECT_EQ(format_bandwidth(Bandwidth{50'000'000'000}), "50 GB/s");
  EXPECT_EQ(format_time(Ticks{9'606'000'000}), "9.606 ms");
  EXPECT_EQ(format_count(1234567), "1,234,567");
}

}  // namespace
}  // namespace tacos
