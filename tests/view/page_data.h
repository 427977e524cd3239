// SPDX-License-Identifier: MIT
// What a page holds, read back without the code that wrote it.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace tacos::test {

[[nodiscard]] inline nlohmann::json data_of(const std::string& page) {
  const std::string open = "<script type=\"application/json\" id=\"data\">";
  const std::size_t begin = page.find(open);
  EXPECT_NE(begin, std::string::npos);
  const std::size_t end = page.find("</script>", begin);
  return nlohmann::json::parse(page.substr(begin + open.size(), end - begin - open.size()));
}

[[nodiscard]] inline std::string from_base64(const std::string& text) {
  const std::string letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  std::uint32_t bits = 0;
  int count = 0;
  for (const char letter : text) {
    if (letter == '=') {
      break;
    }
    bits = bits << 6U | static_cast<std::uint32_t>(letters.find(letter));
    count += 6;
    if (count >= 8) {
      count -= 8;
      bytes += static_cast<char>(bits >> static_cast<unsigned>(count) & 255U);
    }
  }
  return bytes;
}

template <class Number>
std::vector<double> numbers_as(const std::string& bytes) {
  std::vector<double> numbers;
  for (std::size_t at = 0; at < bytes.size(); at += sizeof(Number)) {
    Number number{};
    std::memcpy(&number, bytes.data() + at, sizeof(Number));
    numbers.push_back(static_cast<double>(number));
  }
  return numbers;
}

[[nodiscard]] inline std::vector<double> numbers_of(const nlohmann::json& column) {
  if (!column.contains("data")) {
    return std::vector<double>(column["count"].get<std::size_t>(), column["value"].get<double>());
  }
  const std::string bytes = from_base64(column["data"]);
  const std::string type = column["type"];
  std::vector<double> numbers = type == "u8"    ? numbers_as<std::uint8_t>(bytes)
                                : type == "u16" ? numbers_as<std::uint16_t>(bytes)
                                : type == "u32" ? numbers_as<std::uint32_t>(bytes)
                                : type == "f32" ? numbers_as<float>(bytes)
                                                : numbers_as<double>(bytes);
  EXPECT_EQ(numbers.size(), column["count"].get<std::size_t>());
  const std::string how = column.value("how", "");
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (how == "delta") {
      numbers[i] += i > 0 ? numbers[i - 1] : column["first"].get<double>();
    } else if (how == "table") {
      numbers[i] = column["table"][static_cast<std::size_t>(numbers[i])].get<double>();
    }
  }
  return numbers;
}

}  // namespace tacos::test
