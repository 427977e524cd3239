// SPDX-License-Identifier: MIT
// O(numbers log numbers), for the table of those that differ.
#include "view/column.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>
#include <string>

#include "base/text/base64.h"

namespace tacos::viewing {
namespace {

static_assert(std::endian::native == std::endian::little,
              "pages are written as they are in memory");

/// Bytes that each number takes; 8 is a double.
std::size_t width_of(std::uint64_t largest) {
  return largest < 1U << 8U                  ? 1
         : largest < 1U << 16U               ? 2
         : largest < std::uint64_t{1} << 32U ? 4
                                             : 8;
}

const char* type_of(std::size_t width) {
  return width == 1 ? "u8" : width == 2 ? "u16" : width == 4 ? "u32" : "f64";
}

template <class Number>
std::string packed(std::span<const std::uint64_t> numbers) {
  std::vector<Number> narrow(numbers.size());
  std::transform(numbers.begin(), numbers.end(), narrow.begin(), [](std::uint64_t number) {
    return static_cast<Number>(number);
  });
  return to_base64(std::as_bytes(std::span(narrow)));
}

Json of_width(std::span<const std::uint64_t> numbers, std::size_t width) {
  Json json{{"count", numbers.size()}, {"type", type_of(width)}};
  switch (width) {
    case 1:
      json["data"] = packed<std::uint8_t>(numbers);
      break;
    case 2:
      json["data"] = packed<std::uint16_t>(numbers);
      break;
    case 4:
      json["data"] = packed<std::uint32_t>(numbers);
      break;
    default:
      json["data"] = packed<double>(numbers);
  }
  return json;
}

/// Each less the one before, the first less itself; nothing where one is less than it.
std::optional<Numbers> deltas_of(std::span<const std::uint64_t> numbers) {
  if (!std::is_sorted(numbers.begin(), numbers.end())) {
    return std::nullopt;
  }
  Numbers deltas(numbers.begin(), numbers.end());
  for (std::size_t i = deltas.size(); i-- > 1;) {
    deltas[i] -= deltas[i - 1];
  }
  deltas.front() = 0;
  return deltas;
}

Numbers distinct(std::span<const std::uint64_t> numbers) {
  Numbers table(numbers.begin(), numbers.end());
  std::sort(table.begin(), table.end());
  table.erase(std::unique(table.begin(), table.end()), table.end());
  return table;
}

Json by_table(std::span<const std::uint64_t> numbers, const Numbers& table) {
  Numbers places(numbers.size());
  std::transform(numbers.begin(), numbers.end(), places.begin(), [&](std::uint64_t number) {
    return static_cast<std::uint64_t>(std::lower_bound(table.begin(), table.end(), number) -
                                      table.begin());
  });
  Json json = of_width(places, width_of(table.size() - 1));
  json["how"] = "table";
  json["table"] = table;
  return json;
}

template <class Number>
Json as_it_is(std::span<const Number> numbers, const char* type) {
  return {{"count", numbers.size()}, {"type", type}, {"data", to_base64(std::as_bytes(numbers))}};
}

}  // namespace

Json column(std::span<const std::uint64_t> numbers) {
  if (numbers.empty()) {
    return {{"count", 0}, {"value", 0}};
  }
  const Numbers table = distinct(numbers);
  if (table.size() == 1) {
    return {{"count", numbers.size()}, {"value", table.front()}};
  }
  // A number of a table is text.
  constexpr std::size_t kTextWidth = 12;
  const std::size_t plain = width_of(table.back());
  const std::optional<Numbers> deltas = deltas_of(numbers);
  const std::size_t delta =
      deltas ? width_of(*std::max_element(deltas->begin(), deltas->end())) : sizeof(double);
  const std::size_t listed =
      width_of(table.size() - 1) * numbers.size() + kTextWidth * table.size();
  if (listed < std::min(plain, delta) * numbers.size()) {
    return by_table(numbers, table);
  }
  if (delta < plain) {
    Json json = of_width(*deltas, delta);
    json["how"] = "delta";
    json["first"] = numbers.front();
    return json;
  }
  return of_width(numbers, plain);
}

Json column(std::span<const float> numbers) {
  return as_it_is(numbers, "f32");
}

Json column(std::span<const std::uint8_t> numbers) {
  return as_it_is(numbers, "u8");
}

}  // namespace tacos::viewing
