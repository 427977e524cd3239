// SPDX-License-Identifier: MIT
#include "import/text/xml.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include <fmt/format.h>

namespace tacos::importing {
namespace {

// The largest machine files have a few thousand elements, a dozen deep.
constexpr std::size_t kLongestText = std::size_t{1} << 26U;
constexpr std::size_t kMostElements = 1'000'000;
constexpr std::size_t kMostAttributes = 64;
constexpr std::size_t kDeepestElement = 200;

constexpr std::string_view kSpace = " \t\r\n";

bool ends_name(char c) {
  return kSpace.find(c) != std::string_view::npos || c == '>' || c == '/' || c == '=' || c == '<' ||
         c == '"' || c == '\'' || c == '&';
}

constexpr std::array<std::pair<std::string_view, char>, 5> kEntities{std::pair{"lt", '<'},
                                                                     std::pair{"gt", '>'},
                                                                     std::pair{"amp", '&'},
                                                                     std::pair{"quot", '"'},
                                                                     std::pair{"apos", '\''}};

void append_utf8(std::uint32_t code, std::string& into) {
  const auto put = [&into](std::uint32_t byte) { into += static_cast<char>(byte); };
  if (code < 0x80U) {
    put(code);
  } else if (code < 0x800U) {
    put(0xC0U | (code >> 6U));
    put(0x80U | (code & 0x3FU));
  } else if (code < 0x10000U) {
    put(0xE0U | (code >> 12U));
    put(0x80U | ((code >> 6U) & 0x3FU));
    put(0x80U | (code & 0x3FU));
  } else {
    put(0xF0U | (code >> 18U));
    put(0x80U | ((code >> 12U) & 0x3FU));
    put(0x80U | ((code >> 6U) & 0x3FU));
    put(0x80U | (code & 0x3FU));
  }
}

/// Goes through the text once; elements that are not closed yet are a stack.
class XmlParser {
 public:
  XmlParser(std::string_view text, const std::string& where) : text_(text), where_(where) {}

  Result<XmlElement> parse() {
    if (text_.size() > kLongestText) {
      return input_error(fmt::format("is longer than the {} MiB that a machine file may have",
                                     kLongestText >> 20U),
                         where_);
    }
    if (text_.starts_with("\xEF\xBB\xBF")) {
      at_ = 3;
    }
    while (at_ < text_.size() && !failure_) {
      text_[at_] == '<' ? read_markup() : read_text();
    }
    if (!failure_ && !open_.empty()) {
      fail(fmt::format("ends inside <{}>, which line {} opens", top().name, top().line));
    }
    if (!failure_ && !root_) {
      fail("has no XML element");
    }
    return failure_ ? Result<XmlElement>(*failure_) : *std::move(root_);
  }

 private:
  XmlElement& top() { return open_.back(); }

  /// Counts on from where it was asked last; positions never go back.
  std::size_t line() {
    const std::size_t end = std::min(at_, text_.size());
    line_ +=
        static_cast<std::size_t>(std::count(text_.begin() + static_cast<std::ptrdiff_t>(counted_),
                                            text_.begin() + static_cast<std::ptrdiff_t>(end),
                                            '\n'));
    counted_ = end;
    return line_;
  }

  void fail(const std::string& message) {
    if (!failure_) {
      failure_ = input_error(message, fmt::format("{}:{}", where_, line()));
      at_ = text_.size();
    }
  }

  void skip_space() { at_ = std::min(text_.find_first_not_of(kSpace, at_), text_.size()); }
  [[nodiscard]] bool next_is(std::string_view what) const {
    return text_.substr(at_).starts_with(what);
  }

  /// Moves behind the next `end`; what is before it.
  std::string_view skip_past(std::string_view end, std::string_view what) {
    const std::size_t found = text_.find(end, at_);
    if (found == std::string_view::npos) {
      fail(fmt::format("{} does not end", what));
      return {};
    }
    const std::string_view inside = text_.substr(at_, found - at_);
    at_ = found + end.size();
    return inside;
  }

  std::string_view read_name() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && !ends_name(text_[at_])) {
      ++at_;
    }
    return text_.substr(begin, at_ - begin);
  }

  void read_markup() {
    if (next_is("<!--")) {
      at_ += 4;
      skip_past("-->", "a comment");
    } else if (next_is("<?")) {
      skip_past("?>", "a processing instruction");
    } else if (next_is("<![CDATA[")) {
      read_cdata();
    } else if (next_is("<!")) {
      read_doctype();
    } else if (next_is("</")) {
      read_end_tag();
    } else {
      read_start_tag();
    }
  }

  void read_cdata() {
    at_ += 9;
    const std::string_view inside = skip_past("]]>", "a CDATA section");
    if (open_.empty()) {
      fail("has text outside of the root element");
    } else {
      top().text += inside;
    }
  }

  void read_doctype() {
    if (!next_is("<!DOCTYPE") || root_ || !open_.empty()) {
      return fail("has a declaration where none may be");
    }
    const std::size_t end = text_.find('>', at_);
    const std::size_t subset = text_.find('[', at_);
    if (subset < end) {
      const std::string_view inside = skip_past("]", "the document type");
      if (inside.find("<!ENTITY") != std::string_view::npos) {
        return fail("defines entities; entities are never expanded here, so write them out");
      }
    }
    skip_past(">", "the document type");
  }

  void read_end_tag() {
    at_ += 2;
    const std::string_view name = read_name();
    skip_space();
    if (!next_is(">")) {
      return fail(fmt::format("</{} has no '>'", name));
    }
    if (open_.empty()) {
      return fail(fmt::format("closes <{}>, which is not open", name));
    }
    if (top().name != name) {
      return fail(
          fmt::format("closes <{}> where <{}> of line {} is open", name, top().name, top().line));
    }
    ++at_;
    close();
  }

  void close() {
    XmlElement done = std::move(top());
    open_.pop_back();
    if (open_.empty()) {
      root_ = std::move(done);
    } else {
      top().children.push_back(std::move(done));
    }
  }

  void read_start_tag() {
    if (open_.empty() && root_) {
      return fail("has a second root element");
    }
    if (open_.size() >= kDeepestElement) {
      return fail(fmt::format("is nested more than {} deep", kDeepestElement));
    }
    if (++elements_ > kMostElements) {
      return fail(fmt::format("has more than {} elements", kMostElements));
    }
    const std::size_t starts_in = line();
    ++at_;
    const std::string_view name = read_name();
    if (name.empty()) {
      return fail("has a '<' that begins no element");
    }
    open_.push_back({.name = std::string(name),
                     .attributes = {},
                     .children = {},
                     .text = {},
                     .line = starts_in});
    for (skip_space(); !failure_; skip_space()) {
      if (next_is("/>")) {
        at_ += 2;
        return close();
      }
      if (next_is(">")) {
        ++at_;
        return;
      }
      read_attribute();
    }
  }

  void read_attribute() {
    const std::string_view key = read_name();
    skip_space();
    if (key.empty() || !next_is("=")) {
      return fail(at_ == text_.size()
                      ? fmt::format("ends inside <{}", top().name)
                      : fmt::format("<{} has an attribute without a value", top().name));
    }
    ++at_;
    skip_space();
    if (!next_is("\"") && !next_is("'")) {
      return fail(fmt::format("the value of '{}' is not in quotes", key));
    }
    const std::string_view quote = text_.substr(at_++, 1);
    const std::string_view raw = skip_past(quote, fmt::format("the value of '{}'", key));
    if (raw.find('<') != std::string_view::npos) {
      return fail(fmt::format("the value of '{}' has a '<' in it", key));
    }
    if (top().attributes.size() >= kMostAttributes) {
      return fail(fmt::format("<{} has more than {} attributes", top().name, kMostAttributes));
    }
    const auto& had = top().attributes;
    if (std::any_of(had.begin(), had.end(), [&](const auto& one) { return one.first == key; })) {
      return fail(fmt::format("<{} has '{}' twice", top().name, key));
    }
    std::string value;
    expand(raw, value);
    top().attributes.emplace_back(key, std::move(value));
  }

  void read_text() {
    const std::size_t end = std::min(text_.find('<', at_), text_.size());
    const std::string_view piece = text_.substr(at_, end - at_);
    if (!open_.empty()) {
      expand(piece, top().text);
    } else if (piece.find_first_not_of(kSpace) != std::string_view::npos) {
      return fail("has text outside of the root element");
    }
    if (!failure_) {
      at_ = end;
    }
  }

  /// Appends with `&lt;` and the like replaced; other entities do not exist.
  void expand(std::string_view raw, std::string& into) {
    while (!raw.empty() && !failure_) {
      const std::size_t mark = std::min(raw.find('&'), raw.size());
      into += raw.substr(0, mark);
      raw.remove_prefix(mark);
      if (raw.empty()) {
        return;
      }
      const std::size_t end = raw.find(';');
      const std::string_view name =
          end == std::string_view::npos ? raw.substr(0, 0) : raw.substr(1, end - 1);
      append_entity(name, into);
      raw.remove_prefix(std::min(raw.size(), name.size() + 2));
    }
  }

  void append_entity(std::string_view name, std::string& into) {
    for (const auto& [known, character] : kEntities) {
      if (name == known) {
        into += character;
        return;
      }
    }
    std::uint32_t code = 0;
    const bool hexadecimal = name.starts_with("#x");
    const std::string_view digits =
        name.starts_with('#') ? name.substr(hexadecimal ? 2 : 1) : std::string_view();
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), code, hexadecimal ? 16 : 10);
    const bool surrogate = code >= 0xD800U && code <= 0xDFFFU;
    if (digits.empty() || error != std::errc() || end != digits.data() + digits.size() ||
        code == 0 || code > 0x10FFFFU || surrogate) {
      return fail(fmt::format("has an entity '&{};' that is not one of XML's own", name));
    }
    append_utf8(code, into);
  }

  std::string_view text_;
  const std::string& where_;
  std::size_t at_ = 0;
  std::size_t counted_ = 0;
  std::size_t line_ = 1;
  std::size_t elements_ = 0;
  std::vector<XmlElement> open_;
  std::optional<XmlElement> root_;
  std::optional<Error> failure_;
};

}  // namespace

std::string_view XmlElement::attribute(std::string_view key) const {
  for (const auto& [its_key, value] : attributes) {
    if (its_key == key) {
      return value;
    }
  }
  return {};
}

Result<XmlElement> parse_xml(std::string_view text, const std::string& where) {
  return XmlParser(text, where).parse();
}

}  // namespace tacos::importing
