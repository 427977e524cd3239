// SPDX-License-Identifier: MIT
#include "base/text/base64.h"

#include <string_view>

#include <gtest/gtest.h>

namespace tacos {
namespace {

std::string encoded(std::string_view text) {
  return to_base64(std::as_bytes(std::span(text)));
}

// RFC 4648, section 10.
TEST(Base64, IsThatOfTheStandard) {
  EXPECT_EQ(encoded(""), "");
  EXPECT_EQ(encoded("f"), "Zg==");
  EXPECT_EQ(encoded("fo"), "Zm8=");
  EXPECT_EQ(encoded("foo"), "Zm9v");
  EXPECT_EQ(encoded("foob"), "Zm9vYg==");
  EXPECT_EQ(encoded("fooba"), "Zm9vYmE=");
  EXPECT_EQ(encoded("foobar"), "Zm9vYmFy");
  EXPECT_EQ(encoded("\xff\xfe\xfb"), "//77");
}

}  // namespace
}  // namespace tacos
