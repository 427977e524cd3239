// SPDX-License-Identifier: MIT
#include "base/text/printable.h"

#include <gtest/gtest.h>

namespace tacos {
namespace {

TEST(Printable, ShowsWhatWouldMoveTheCursor) {
  EXPECT_EQ(printable("a\nb\x1b[1m\xff"), "a\\nb\\x1b[1m\\xff");
  EXPECT_EQ(printable("caf\xc3\xa9"), "caf\xc3\xa9");
}

TEST(Printable, KnowsWhatIsNotUtf8) {
  // Too long, a surrogate, beyond all, leads that do not exist, one that ends early, C1 controls.
  EXPECT_EQ(printable("\xc0\x80"), "\\xc0\\x80");
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80");
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");
  EXPECT_EQ(printable("\xf8\x90\x80\x80"), "\\xf8\\x90\\x80\\x80");
  EXPECT_EQ(printable("\xff\x90\x80\x80"), "\\xff\\x90\\x80\\x80");
  EXPECT_EQ(printable("\xe2\x82"), "\\xe2\\x82");
  EXPECT_EQ(printable("\xc2\x85"), "\\xc2\\x85");
  EXPECT_EQ(printable("\xf0\x9f\x8c\xae"), "\xf0\x9f\x8c\xae");
}

TEST(Utf8, KeepsAllThatIsText) {
  EXPECT_EQ(utf8("a\n\x7f\xc2\x85\xf0\x9f\x8c\xae"), "a\n\x7f\xc2\x85\xf0\x9f\x8c\xae");
  EXPECT_EQ(utf8("R\xe9seau"), "R\\xe9seau");
  EXPECT_EQ(utf8("\xc0\xf8\x90\x80\x80"), "\\xc0\\xf8\\x90\\x80\\x80");
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
