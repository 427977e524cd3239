// SPDX-License-Identifier: MIT
#include "import/text/xml.h"

#include <gmock/gmock.h>

#include "import/text/yaml.h"

namespace tacos::importing {
namespace {

using ::testing::HasSubstr;

std::string failure(const std::string& text) {
  const Result<XmlElement> root = parse_xml(text, "file.xml");
  return root ? "no failure" : root.error().to_string();
}

TEST(Xml, KeepsElementsAttributesTextAndLines) {
  const XmlElement root = parse_xml(
                              "\xEF\xBB\xBF<?xml version=\"1.0\"?>\n<!DOCTYPE a SYSTEM \"a.dtd\">\n"
                              "<!-- <x> -->\n<a one='1' two=\"&lt;&#65;&#x20AC;&amp;\">\n"
                              "  x<b/>y<![CDATA[<z>]]>\n</a >\n<!-- end -->\n",
                              "file.xml")
                              .value();
  EXPECT_EQ(root.name, "a");
  EXPECT_EQ(root.line, 4U);
  EXPECT_EQ(root.attribute("one"), "1");
  EXPECT_EQ(root.attribute("two"), "<A\xE2\x82\xAC&");
  EXPECT_EQ(root.attribute("three"), "");
  ASSERT_EQ(root.children.size(), 1U);
  EXPECT_EQ(root.children[0].line, 5U);
  EXPECT_THAT(root.text, HasSubstr("xy<z>"));
}

TEST(Xml, RefusesEntitiesOfItsOwn) {
  const std::string bomb =
      "<?xml version=\"1.0\"?>\n<!DOCTYPE lolz [\n <!ENTITY lol \"lol\">\n"
      " <!ENTITY lol2 \"&lol;&lol;&lol;\">\n]>\n<lolz>&lol2;</lolz>";
  EXPECT_THAT(failure(bomb), HasSubstr("file.xml:5: defines entities"));
  EXPECT_THAT(failure("<a>\n&lol;</a>"), HasSubstr("entity '&lol;'"));
  EXPECT_THAT(failure("<a b='&nothing'/>"), HasSubstr("entity"));
  EXPECT_THAT(failure("<a>&#xD800;</a>"), HasSubstr("entity"));
  EXPECT_THAT(failure("<a>&#0;</a>"), HasSubstr("entity"));
  EXPECT_EQ(parse_xml("<!DOCTYPE a [ <!ELEMENT a EMPTY> ]><a/>", "f").value().name, "a");
}

TEST(Xml, RefusesWhatIsTooDeepOrTooLarge) {
  std::string deep;
  for (int i = 0; i < 100'000; ++i) {
    deep += "<a>";
  }
  EXPECT_THAT(failure(deep), HasSubstr("nested more than 200 deep"));
  std::string many = "<a>";
  for (int i = 0; i < 1'000'001; ++i) {
    many += "<b/>";
  }
  EXPECT_THAT(failure(many), HasSubstr("more than 1000000 elements"));
  EXPECT_THAT(failure(std::string((1U << 26U) + 1, ' ')), HasSubstr("longer than"));
}

TEST(Xml, EveryTruncationIsOneError) {
  const std::string text =
      "<?xml version=\"1.0\"?><!DOCTYPE a [<!ELEMENT a ANY>]><!-- c --><a b=\"&lt;\" "
      "c='2'><d>t&#65;"
      "</d><![CDATA[x]]></a>";
  ASSERT_TRUE(parse_xml(text, "f"));
  for (std::size_t length = 0; length < text.size(); ++length) {
    EXPECT_FALSE(parse_xml(std::string_view(text).substr(0, length), "f")) << length;
  }
}

TEST(Xml, SaysWhatIsWrongAndWhere) {
  EXPECT_THAT(failure("<a>\n<b>\n</a>"), HasSubstr("file.xml:3: closes <a> where <b> of line 2"));
  EXPECT_THAT(failure("<a b=1/>"), HasSubstr("not in quotes"));
  EXPECT_THAT(failure("<a b='1' b='2'/>"), HasSubstr("twice"));
  EXPECT_THAT(failure("<a b='' b=''/>"), HasSubstr("twice"));
  EXPECT_THAT(failure("<a/><b/>"), HasSubstr("second root"));
  EXPECT_THAT(failure("</a>"), HasSubstr("not open"));
  EXPECT_THAT(failure("text"), HasSubstr("text outside"));
  EXPECT_THAT(failure(""), HasSubstr("no XML element"));
  EXPECT_THAT(failure("<a><!DOCTYPE b></a>"), HasSubstr("declaration"));
}

std::string yaml(const std::string& text) {
  const Result<Json> json = parse_yaml(text, "file.yml");
  return json ? json->dump() : json.error().to_string();
}

TEST(Yaml, ReadsMapsAndListsByIndentationAndInBrackets) {
  EXPECT_EQ(yaml("a: 1\nb: [x, 'y z', 2.5, true, ~]\n"),
            R"({"a":1,"b":["x","y z",2.5,true,null]})");
  EXPECT_EQ(yaml("---\na:\n  b: 1\n  c:\n  - 1\n  -  d: 2\n     e: 3\nf: {g: 1, h: [2, {i: 3}]}\n"),
            R"({"a":{"b":1,"c":[1,{"d":2,"e":3}]},"f":{"g":1,"h":[2,{"i":3}]}})");
  EXPECT_EQ(yaml("a: [1,\n    2, # two\n    3]\n\"b: c\": 'it # is'  # comment\n"),
            R"({"a":[1,2,3],"b: c":"it # is"})");
  EXPECT_EQ(yaml("- - 1\n  - 2\n-\n  - 3\n"), "[[1,2],[3]]");
  EXPECT_EQ(yaml("a:\nb: http://x\n"), R"({"a":null,"b":"http://x"})");
}

TEST(Yaml, RefusesTheRestWithALine) {
  EXPECT_THAT(yaml("a: &x [1]\nb: *x\n"), HasSubstr("file.yml:1: begins a value with '&'"));
  EXPECT_THAT(yaml("a: |\n  text\n"), HasSubstr("'|'"));
  EXPECT_THAT(yaml("a: 1\na: 2\n"), HasSubstr("file.yml:2: has 'a' a second time"));
  EXPECT_THAT(yaml("a: 1\n\tb: 2\n"), HasSubstr("file.yml:2: is indented by a tab"));
  EXPECT_THAT(yaml("a: [1, 2\n"), HasSubstr("file.yml:1"));
  EXPECT_THAT(yaml("a: 1\n  b: 2\n"), HasSubstr("file.yml:2: is indented more"));
  EXPECT_THAT(yaml("  a: 1\nb: 2\n"), HasSubstr("file.yml:2: is indented less"));
  EXPECT_THAT(yaml("a: 1\nb\n"), HasSubstr("file.yml:2"));
  EXPECT_THAT(yaml("a: 1\n---\nb: 1\n"), HasSubstr("second document"));
  EXPECT_THAT(yaml("a: " + std::string(1000, '[')), HasSubstr("deep"));
  std::string dashes;
  for (int i = 0; i < 1000; ++i) {
    dashes += "- ";
  }
  EXPECT_THAT(yaml(dashes + "1"), HasSubstr("deep"));
}

}  // namespace
}  // namespace tacos::importing
