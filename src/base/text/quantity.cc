// SPDX-License-Identifier: MIT
// A number is read as digits x 10^exponent in 128 bits, so that 0.1us is 100,000 ps and not a
// rounded double.
#include "base/text/quantity.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <optional>
#include <span>
#include <vector>

#include <fmt/format.h>

#include "base/numbers/wide.h"
#include "base/text/suggest.h"

namespace tacos {
namespace {

using Wide = Int128;
constexpr Wide kWideLimit = Wide{1} << 120U;

struct Unit {
  std::string_view name;
  /// Value of one unit is numerator / denominator base units.
  std::int64_t numerator;
  std::int64_t denominator = 1;
};

constexpr std::array<Unit, 9> kSizeUnits{{{"B", 1},
                                          {"KB", 1'000},
                                          {"KiB", 1LL << 10U},
                                          {"MB", 1'000'000},
                                          {"MiB", 1LL << 20U},
                                          {"GB", 1'000'000'000},
                                          {"GiB", 1LL << 30U},
                                          {"TB", 1'000'000'000'000},
                                          {"TiB", 1LL << 40U}}};
constexpr std::array<Unit, 12> kBandwidthUnits{{{"Bps", 1},
                                                {"KBps", 1'000},
                                                {"KiBps", 1LL << 10U},
                                                {"MBps", 1'000'000},
                                                {"MiBps", 1LL << 20U},
                                                {"GBps", 1'000'000'000},
                                                {"GiBps", 1LL << 30U},
                                                {"TBps", 1'000'000'000'000},
                                                {"TiBps", 1LL << 40U},
                                                {"Mbps", 1'000'000, 8},
                                                {"Gbps", 1'000'000'000, 8},
                                                {"Tbps", 1'000'000'000'000, 8}}};
constexpr std::array<Unit, 5> kTimeUnits{
    {{"ps", 1}, {"ns", 1'000}, {"us", 1'000'000}, {"ms", 1'000'000'000}, {"s", 1'000'000'000'000}}};

struct Decimal {
  Wide digits = 0;
  int exponent = 0;
  bool negative = false;
  /// More digits than anybody means; their value is not known.
  bool overlong = false;
  std::string_view rest;
};

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// Reads e[+-]digits at the front of `rest` into the exponent; without digits it may be a unit.
void read_exponent(Decimal& number) {
  const std::string_view text = number.rest;
  if (text.empty() || (text[0] != 'e' && text[0] != 'E')) {
    return;
  }
  const bool minus = text.size() > 1 && text[1] == '-';
  std::size_t at = minus || (text.size() > 1 && text[1] == '+') ? 2 : 1;
  const std::size_t first = at;
  constexpr int kEnough = 1000;
  int exponent = 0;
  for (; at < text.size() && is_digit(text[at]); ++at) {
    exponent = std::min(kEnough, exponent * 10 + (text[at] - '0'));
  }
  if (at > first) {
    number.exponent += minus ? -exponent : exponent;
    number.rest = text.substr(at);
  }
}

/// Reads [+-]digits[.digits][e[+-]digits]; nothing when there is no digit.
std::optional<Decimal> read_decimal(std::string_view text) {
  Decimal number;
  std::size_t at = 0;
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) {
    number.negative = text[at++] == '-';
  }
  bool any = false;
  bool fraction = false;
  for (; at < text.size() && (is_digit(text[at]) || (text[at] == '.' && !fraction)); ++at) {
    if (text[at] == '.') {
      fraction = true;
      continue;
    }
    any = true;
    number.overlong = number.overlong || number.digits > kWideLimit / 10'000'000'000'000;
    if (!number.overlong) {
      number.digits = number.digits * 10 + (text[at] - '0');
      number.exponent -= fraction ? 1 : 0;
    }
  }
  number.rest = text.substr(at);
  read_exponent(number);
  return any ? std::optional(number) : std::nullopt;
}

struct Quantity {
  std::string_view what;
  std::string_view example;
  std::span<const Unit> units;
  /// Unit of a bare number; nothing when a unit is required.
  const Unit* bare = nullptr;
  std::int64_t largest = 0;
};

const Unit* find_unit(std::span<const Unit> units, std::string_view name) {
  for (const Unit& unit : units) {
    if (unit.name == name) {
      return &unit;
    }
  }
  return nullptr;
}

bool same_ignoring_case(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](unsigned char x, unsigned char y) {
    return std::tolower(x) == std::tolower(y);
  });
}

/// Units that may have been meant: EiB is no slip of the hand for KiB, and
/// gbps may be bits or bytes.
std::vector<std::string_view> plausible_units(std::span<const Unit> units, std::string_view name) {
  std::vector<std::string_view> same;
  std::vector<std::string_view> similar;
  for (const Unit& unit : units) {
    if (same_ignoring_case(unit.name, name)) {
      same.push_back(unit.name);
    }
    if (same_ignoring_case(unit.name.substr(0, 1), name.substr(0, 1))) {
      similar.push_back(unit.name);
    }
  }
  return same.empty() ? similar : same.size() == 1 ? same : std::vector<std::string_view>();
}

Error unit_error(const Quantity& kind, std::string_view text, std::string_view unit) {
  std::vector<std::string_view> names;
  for (const Unit& known : kind.units) {
    names.push_back(known.name);
  }
  if (unit.empty()) {
    return input_error(
        fmt::format("{} '{}' has no unit; write for example {}", kind.what, text, kind.example));
  }
  return input_error(
      fmt::format("{} '{}': {}",
                  kind.what,
                  text,
                  unknown_name("unit", unit, names, plausible_units(kind.units, unit))));
}

/// The value in base units, rounded to the nearest whole; `exact` reports whether it was whole.
Result<std::int64_t> parse_quantity(std::string_view text, const Quantity& kind, bool& exact) {
  const std::optional<Decimal> number = read_decimal(text);
  if (!number) {
    return input_error(fmt::format(
        "{} '{}' is not a number; write for example {}", kind.what, text, kind.example));
  }
  if (number->overlong) {
    return input_error(fmt::format("{} '{}' has too many digits", kind.what, text));
  }
  const Unit* unit = number->rest.empty() ? kind.bare : find_unit(kind.units, number->rest);
  if (unit == nullptr && number->rest.empty() && number->digits == 0) {
    unit = kind.units.data();
  }
  if (unit == nullptr) {
    return unit_error(kind, text, number->rest);
  }
  if (number->negative && number->digits != 0) {
    return input_error(fmt::format("{} '{}' is negative", kind.what, text));
  }
  Wide numerator = number->digits * unit->numerator;
  Wide denominator = unit->denominator;
  for (int e = number->exponent; e > 0 && numerator != 0 && numerator <= kWideLimit / 16; --e) {
    numerator *= 10;
  }
  for (int e = number->exponent; e < 0 && denominator <= kWideLimit / 16; ++e) {
    denominator *= 10;
  }
  const Wide value = (numerator + denominator / 2) / denominator;
  if (value > kind.largest) {
    return input_error(fmt::format("{} '{}' is too large", kind.what, text));
  }
  exact = numerator % denominator == 0;
  return static_cast<std::int64_t>(value);
}

/// Up to four significant digits after scaling, without trailing zeros.
std::string short_number(double value) {
  return fmt::format("{:.4g}", value);
}

}  // namespace

Result<std::uint64_t> parse_whole(std::string_view text, std::uint64_t least, std::uint64_t most) {
  std::uint64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [last, failure] = std::from_chars(text.data(), end, value);
  const bool number = last == end && failure != std::errc::invalid_argument;
  if (!number || (failure == std::errc() && value < least)) {
    return input_error(fmt::format("'{}' is not a whole number, {} or more", text, least));
  }
  if (failure != std::errc() || value > most) {
    return input_error(fmt::format("{} is too large; the most is {}", text, most));
  }
  return value;
}

Result<Bytes> parse_size(std::string_view text) {
  const Quantity kind{"size", "64MiB", kSizeUnits, kSizeUnits.data(), 1LL << 60U};
  bool exact = true;
  const Result<std::int64_t> value = parse_quantity(text, kind, exact);
  if (!value) {
    return value.error();
  }
  if (*value == 0 && exact) {
    return input_error(fmt::format("size '{}' is zero; there is nothing to send", text));
  }
  if (!exact) {
    return input_error(fmt::format("size '{}' is not a whole number of bytes", text));
  }
  return Bytes{*value};
}

Result<Bandwidth> parse_bandwidth(std::string_view text) {
  const Quantity kind{"bandwidth", "50GBps", kBandwidthUnits, nullptr, 1'000'000'000'000'000'000};
  bool exact = true;
  const Result<std::int64_t> value = parse_quantity(text, kind, exact);
  if (!value) {
    return value.error();
  }
  if (*value == 0) {
    return input_error(fmt::format("bandwidth '{}' is zero; leave the link out instead", text));
  }
  return Bandwidth{*value};
}

Result<Ticks> parse_time(std::string_view text) {
  const Quantity kind{"time", "0.5us", kTimeUnits, nullptr, kMaxTime.ps};
  bool exact = true;
  const Result<std::int64_t> value = parse_quantity(text, kind, exact);
  if (!value) {
    return value.error();
  }
  return Ticks{*value};
}

std::string format_size(Bytes size) {
  const Unit* best = kSizeUnits.data();
  for (const Unit& unit : kSizeUnits) {
    if (size.count >= unit.numerator && size.count % unit.numerator == 0) {
      best = &unit;
    }
  }
  // 1,073,741,824 divides by 1 only among the decimal units, by 2^30 among the binary ones.
  return fmt::format(
      "{} {}", format_count(static_cast<std::uint64_t>(size.count / best->numerator)), best->name);
}

std::string format_binary(std::uint64_t bytes) {
  constexpr std::array<std::string_view, 4> kUnits{"KiB", "MiB", "GiB", "TiB"};
  constexpr double kStep = 1024;
  double amount = static_cast<double>(bytes) / kStep;
  std::size_t unit = 0;
  for (; unit + 1 < kUnits.size() && amount >= kStep; ++unit) {
    amount /= kStep;
  }
  return fmt::format("{:.1f} {}", amount, kUnits[unit]);
}

std::string format_bandwidth(Bandwidth bandwidth) {
  const auto value = static_cast<double>(bandwidth.bytes_per_second);
  if (value >= 1e12) {
    return short_number(value * 1e-12) + " TB/s";
  }
  if (value >= 1e9) {
    return short_number(value * 1e-9) + " GB/s";
  }
  if (value >= 1e6) {
    return short_number(value * 1e-6) + " MB/s";
  }
  return format_count(static_cast<std::uint64_t>(bandwidth.bytes_per_second)) + " B/s";
}

std::string format_time(Ticks time) {
  const auto value = static_cast<double>(time.ps);
  if (value >= 1e12) {
    return fmt::format("{:.3f} s", value * 1e-12);
  }
  if (value >= 1e9) {
    return fmt::format("{:.3f} ms", value * 1e-9);
  }
  if (value >= 1e6) {
    return fmt::format("{:.3f} us", value * 1e-6);
  }
  return fmt::format("{:.3f} ns", value * 1e-3);
}

std::string format_count(std::uint64_t count) {
  std::string digits = fmt::format("{}", count);
  for (std::size_t at = digits.size(); at > 3; at -= 3) {
    digits.insert(at - 3, 1, ',');
  }
  return digits;
}

}  // namespace tacos
