// SPDX-License-Identifier: MIT
// Numbers with units, read exactly and written for people.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "tacos/result.h"
#include "tacos/units.h"

namespace tacos {

/// "12": decimal digits and nothing else, from `least` to `most`.
[[nodiscard]] Result<std::uint64_t> parse_whole(std::string_view text,
                                                std::uint64_t least,
                                                std::uint64_t most);
/// "1GiB", "64KB", "1e9"; a bare number is bytes. Whole bytes, more than zero.
[[nodiscard]] Result<Bytes> parse_size(std::string_view text);
/// "50GBps", "100Gbps"; more than zero, rounded to whole bytes per second.
[[nodiscard]] Result<Bandwidth> parse_bandwidth(std::string_view text);
/// "0.5us", "500ns", "0"; rounded to whole picoseconds.
[[nodiscard]] Result<Ticks> parse_time(std::string_view text);

/// "1 GiB", "1.5 MB": binary when it divides evenly, else decimal.
[[nodiscard]] std::string format_size(Bytes size);
/// "5.1 GiB": one decimal, binary, for memory and disks.
[[nodiscard]] std::string format_binary(std::uint64_t bytes);
/// "50 GB/s".
[[nodiscard]] std::string format_bandwidth(Bandwidth bandwidth);
/// "12.34 us": four significant digits or more, in the unit that suits.
[[nodiscard]] std::string format_time(Ticks time);
/// "1,234,567".
[[nodiscard]] std::string format_count(std::uint64_t count);

}  // namespace tacos
