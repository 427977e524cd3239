// SPDX-License-Identifier: MIT
#include "base/text/printable.h"

#include <gtest/gtest.h>

namespace tacos {
namespace {

TEST(Printable, ShowsWhatWouldMoveTheCursor) {
  EXPECT_EQ(printable("a\nb\x1b[1m\xff"), "a\\nb\\x1b[1m\\xff");
  EXPECT_EQ(printable("caf\xc3\xa9"), "caf\xc3\xa9");
}

TEST(MarkupText, HasNoMarkup) {
  EXPECT_EQ(markup_text("<a href=\"x\">&</a>\n"), "&lt;a href=&quot;x&quot;&gt;&amp;&lt;/a&gt;\\n");
}

TEST(Shortened, KeepsBeginningAndEnd) {
  EXPECT_EQ(shortened("abcdefghijklmnop", 9), "abcd...op");
  EXPECT_EQ(shortened("abc", 9), "abc");
  // Never within a character.
  EXPECT_EQ(shortened("\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9", 4), "\xc3\xa9...");
  EXPECT_EQ(num_characters("\xc3\xa9x"), 2U);
}

}  // namespace
}  // namespace tacos
