// SPDX-License-Identifier: MIT
// Sizes, times and bandwidths as people write them. What is read comes back when it is written.
#include "base/text/quantity.h"

#include <string>

#include <fmt/format.h>

#include "fuzz/target.h"

namespace {

using namespace tacos;  // NOLINT(google-build-using-namespace)

/// Without the commas and the blank that are for people.
std::string plain(std::string text) {
  std::erase_if(text, [](char c) { return c == ',' || c == ' '; });
  return text;
}

template <class Value, class Parse>
void check(std::string_view text,
           const Parse& parse,
           const char* unit,
           std::int64_t Value::*member) {
  const Result<Value> value = parse(text);
  if (!value) {
    fuzz::require_input_error(value.error());
    return;
  }
  const Result<Value> again = parse(fmt::format("{}{}", (*value).*member, unit));
  fuzz::require(again && *again == *value, "a quantity in its smallest unit comes back");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = fuzz::text_of(data, size);
  check<Bytes>(text, parse_size, "B", &Bytes::count);
  check<Bandwidth>(text, parse_bandwidth, "Bps", &Bandwidth::bytes_per_second);
  check<Ticks>(text, parse_time, "ps", &Ticks::ps);
  if (const Result<Bytes> bytes = parse_size(text)) {
    const Result<Bytes> again = parse_size(plain(format_size(*bytes)));
    fuzz::require(again && *again == *bytes, "a size for people is exact");
  }
  if (const Result<Bandwidth> bandwidth = parse_bandwidth(text)) {
    fuzz::require(!format_bandwidth(*bandwidth).empty(), "a bandwidth can be written");
  }
  if (const Result<Ticks> time = parse_time(text)) {
    fuzz::require(!format_time(*time).empty(), "a time can be written");
  }
  return 0;
}
