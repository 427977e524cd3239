// SPDX-License-Identifier: MIT
#include "import/text/yaml.h"

#include <charconv>
#include <optional>
#include <vector>

#include "import/text/fields.h"

namespace tacos::importing {
namespace {

constexpr std::size_t kDeepestNode = 100;

/// Where a comment begins outside of quotes, or the end.
std::size_t end_of_content(std::string_view line) {
  char quote = 0;
  for (std::size_t at = 0; at < line.size(); ++at) {
    const char c = line[at];
    const bool after_space = at == 0 || line[at - 1] == ' ' || line[at - 1] == '\t';
    if (quote != 0) {
      at += quote == '"' && c == '\\' ? 1 : 0;
      quote = c == quote ? char{0} : quote;
    } else if (c == '#' && after_space) {
      return at;
    } else if (c == '"' || c == '\'') {
      // An apostrophe inside of a word is one.
      const bool begins = after_space || line[at - 1] == '[' || line[at - 1] == '{' ||
                          line[at - 1] == ',' || line[at - 1] == ':';
      quote = begins ? c : quote;
    }
  }
  return line.size();
}

/// Brackets that are open at the end of a text, outside of quotes.
int open_brackets(std::string_view text) {
  int open = 0;
  char quote = 0;
  for (const char c : text) {
    if (quote != 0) {
      quote = c == quote ? char{0} : quote;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else {
      open += c == '[' || c == '{' ? 1 : c == ']' || c == '}' ? -1 : 0;
    }
  }
  return open;
}

Json plain_value(std::string_view text) {
  if (text.empty() || text == "~" || text == "null") {
    return nullptr;
  }
  if (text == "true" || text == "false") {
    return text == "true";
  }
  if (const std::optional<std::int64_t> number = whole(text)) {
    return *number;
  }
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool numeric = error == std::errc() && end == text.data() + text.size() &&
                       text.find_first_not_of("+-.0123456789eE") == std::string_view::npos;
  return numeric ? Json(number) : Json(std::string(text));
}

class YamlParser {
 public:
  YamlParser(std::string_view text, const std::string& where) : where_(where) {
    for (const TextLine& line : lines_of(text)) {
      add_line(line);
    }
  }

  Result<Json> parse() {
    Json value = lines_.empty() ? Json() : block(lines_.front().indent, 0);
    if (!failure_ && at_ < lines_.size()) {
      fail("is indented less than what it is part of");
    }
    return failure_ ? Result<Json>(*failure_) : Result<Json>(std::move(value));
  }

 private:
  struct Line {
    std::size_t indent = 0;
    std::string content;
    std::size_t number = 0;
  };

  void add_line(const TextLine& line) {
    const std::string_view content = line.text.substr(0, end_of_content(line.text));
    const std::string_view inner = trimmed(content);
    if (inner.empty() || failure_) {
      return;
    }
    if (inner == "---" && lines_.empty()) {
      return;
    }
    if (!lines_.empty() && open_brackets(lines_.back().content) > 0) {
      lines_.back().content.append(" ").append(inner);
      return;
    }
    const std::size_t indent = content.find_first_not_of(' ');
    lines_.push_back({.indent = indent, .content = std::string(inner), .number = line.number});
    if (content[indent] == '\t') {
      fail_at(line.number, "is indented by a tab; YAML takes spaces");
    } else if (inner == "---" || inner == "...") {
      fail_at(line.number, "begins a second document");
    }
  }

  void fail_at(std::size_t number, const std::string& message) {
    if (!failure_) {
      failure_ = input_error(message, fmt::format("{}:{}", where_, number));
    }
  }
  void fail(const std::string& message) {
    fail_at(lines_[std::min(at_, lines_.size() - 1)].number, message);
  }
  [[nodiscard]] bool here(std::size_t indent) const {
    return !failure_ && at_ < lines_.size() && lines_[at_].indent == indent;
  }
  [[nodiscard]] bool is_item() const {
    return lines_[at_].content == "-" || lines_[at_].content.starts_with("- ");
  }

  Json block(std::size_t indent, std::size_t depth) {
    if (depth > kDeepestNode) {
      fail(fmt::format("is nested more than {} deep", kDeepestNode));
    }
    if (failure_) {
      return {};
    }
    if (is_item()) {
      return list(indent, depth);
    }
    if (key_end(lines_[at_].content) == std::string::npos) {
      std::string content = lines_[at_].content;
      Json value = inline_value(content);
      ++at_;
      return value;
    }
    return map(indent, depth);
  }

  Json list(std::size_t indent, std::size_t depth) {
    Json items = Json::array();
    while (here(indent) && is_item()) {
      Line& line = lines_[at_];
      const std::size_t begin =
          std::min(line.content.find_first_not_of(' ', 1), line.content.size());
      line.content.erase(0, begin);
      if (line.content.empty()) {
        ++at_;
        items.push_back(nested(indent + 1, depth));
      } else {
        // What follows the dash is a block of its own, further in.
        line.indent += begin;
        items.push_back(block(line.indent, depth + 1));
      }
    }
    check_indent(indent);
    return items;
  }

  Json map(std::size_t indent, std::size_t depth) {
    Json object = Json::object();
    while (here(indent) && !is_item()) {
      const std::string content = lines_[at_].content;
      const std::size_t end = key_end(content);
      if (end == std::string::npos) {
        fail("is neither 'key: value' nor an item of a list");
        return {};
      }
      const std::string key = text_of(trimmed(std::string_view(content).substr(0, end)));
      const std::string rest(trimmed(std::string_view(content).substr(end + 1)));
      if (object.contains(key)) {
        fail(fmt::format("has '{}' a second time", key));
        return {};
      }
      if (rest.empty()) {
        ++at_;
        // A list may stand as far left as its key.
        const bool same = here(indent) && is_item();
        object[key] = same ? list(indent, depth + 1) : nested(indent + 1, depth);
      } else {
        object[key] = inline_value(rest);
        ++at_;
      }
    }
    check_indent(indent);
    return object;
  }

  void check_indent(std::size_t indent) {
    if (at_ < lines_.size() && lines_[at_].indent > indent) {
      fail("is indented more than what is before it");
    }
  }

  /// The block at `least` or further in, or nothing.
  Json nested(std::size_t least, std::size_t depth) {
    const bool there = !failure_ && at_ < lines_.size() && lines_[at_].indent >= least;
    return there ? block(lines_[at_].indent, depth + 1) : Json();
  }

  /// Of the colon behind a key; none when the line has no key.
  [[nodiscard]] static std::size_t key_end(std::string_view content) {
    std::size_t from = 0;
    if (content.starts_with('"') || content.starts_with('\'')) {
      const std::size_t close = content.find(content.front(), 1);
      from = close == std::string_view::npos ? content.size() : close;
    } else if (content.starts_with('[') || content.starts_with('{')) {
      return std::string_view::npos;
    }
    for (std::size_t at = content.find(':', from); at != std::string_view::npos;
         at = content.find(':', at + 1)) {
      if (at + 1 == content.size() || content[at + 1] == ' ' || content[at + 1] == '\t') {
        return at;
      }
    }
    return std::string_view::npos;
  }

  /// Without quotes.
  std::string text_of(std::string_view text) {
    std::size_t at = 0;
    const Json value = flow_scalar(text, at, 0);
    return value.is_string() ? value.get<std::string>() : std::string(text);
  }

  Json inline_value(const std::string& text) {
    std::size_t at = 0;
    const bool bracketed = text.starts_with('[') || text.starts_with('{');
    Json value = bracketed ? flow(text, at, 0) : flow_scalar(text, at, 0);
    if (!failure_ && at < text.size()) {
      fail(fmt::format("has '{}' behind a value", text.substr(at)));
    }
    return value;
  }

  static void skip_space(std::string_view text, std::size_t& at) {
    at = std::min(text.find_first_not_of(" \t", at), text.size());
  }

  Json flow(std::string_view text, std::size_t& at, std::size_t depth) {
    skip_space(text, at);
    if (depth > kDeepestNode) {
      fail(fmt::format("is nested more than {} deep", kDeepestNode));
    }
    if (failure_ || at >= text.size()) {
      fail("ends inside of brackets");
      return {};
    }
    if (text[at] == '[') {
      return flow_list(text, at, depth);
    }
    return text[at] == '{' ? flow_map(text, at, depth) : flow_scalar(text, at, depth + 1);
  }

  /// Whether another element follows; moves past the comma or the bracket.
  bool goes_on(std::string_view text, std::size_t& at, char close) {
    skip_space(text, at);
    if (at >= text.size() || (text[at] != ',' && text[at] != close)) {
      fail(fmt::format("lacks a ',' or a '{}'", close));
      return false;
    }
    const bool comma = text[at++] == ',';
    skip_space(text, at);
    if (comma && at < text.size() && text[at] == close) {
      ++at;
      return false;
    }
    return comma;
  }

  Json flow_list(std::string_view text, std::size_t& at, std::size_t depth) {
    Json items = Json::array();
    skip_space(text, ++at);
    if (at < text.size() && text[at] == ']') {
      ++at;
      skip_space(text, at);
      return items;
    }
    do {
      items.push_back(flow(text, at, depth + 1));
    } while (!failure_ && goes_on(text, at, ']'));
    return items;
  }

  Json flow_map(std::string_view text, std::size_t& at, std::size_t depth) {
    Json object = Json::object();
    skip_space(text, ++at);
    if (at < text.size() && text[at] == '}') {
      ++at;
      skip_space(text, at);
      return object;
    }
    do {
      skip_space(text, at);
      const std::size_t colon = text.find(':', at);
      if (colon == std::string_view::npos) {
        fail("has something in braces that is not 'key: value'");
        return {};
      }
      const std::string key = text_of(trimmed(text.substr(at, colon - at)));
      at = colon + 1;
      if (object.contains(key)) {
        fail(fmt::format("has '{}' a second time", key));
        return {};
      }
      object[key] = flow(text, at, depth + 1);
    } while (!failure_ && goes_on(text, at, '}'));
    return object;
  }

  Json quoted(std::string_view text, std::size_t& at) {
    const char quote = text[at++];
    std::string value;
    for (; at < text.size(); ++at) {
      if (text[at] == quote) {
        ++at;
        skip_space(text, at);
        return value;
      }
      if (quote == '"' && text[at] == '\\') {
        fail("has a backslash in a quoted text, which is not supported");
        return {};
      }
      value += text[at];
    }
    fail("has a quoted text without an end");
    return {};
  }

  /// Inside of brackets (depth > 0) a plain value ends at a comma or a bracket.
  Json flow_scalar(std::string_view text, std::size_t& at, std::size_t depth) {
    if (at < text.size() && (text[at] == '"' || text[at] == '\'')) {
      return quoted(text, at);
    }
    const std::size_t end =
        depth > 0 ? std::min(text.find_first_of(",]}", at), text.size()) : text.size();
    const std::string_view plain = trimmed(text.substr(at, end - at));
    at = end;
    constexpr std::string_view kRefused = "&*!|>%@`";
    if (!plain.empty() && kRefused.find(plain.front()) != std::string_view::npos) {
      fail(
          fmt::format("begins a value with '{}': anchors, aliases, tags and multi-line texts are "
                      "not read",
                      plain.front()));
      return {};
    }
    return plain_value(plain);
  }

  const std::string& where_;
  std::vector<Line> lines_;
  std::size_t at_ = 0;
  std::optional<Error> failure_;
};

}  // namespace

Result<Json> parse_yaml(std::string_view text, const std::string& where) {
  constexpr std::size_t kLongestYaml = std::size_t{1} << 28U;
  if (text.size() > kLongestYaml) {
    return input_error(
        fmt::format("is longer than the {} MiB that YAML may have; use JSON", kLongestYaml >> 20U),
        where);
  }
  return YamlParser(text, where).parse();
}

}  // namespace tacos::importing
