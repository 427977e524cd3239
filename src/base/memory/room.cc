// SPDX-License-Identifier: MIT
#include "base/memory/room.h"

#include <algorithm>
#include <fstream>
#include <limits>
#include <sstream>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/text/quantity.h"

namespace tacos {
namespace {

constexpr std::uint64_t kUnlimited = std::numeric_limits<std::uint64_t>::max();

/// The first number of a file; unlimited where there is none ("max").
std::uint64_t read_number(const std::string& path) {
  std::ifstream file(path);
  std::uint64_t number = 0;
  return file >> number ? number : kUnlimited;
}

/// The number after a key at the beginning of a line.
std::optional<std::uint64_t> read_key(const std::string& path, std::string_view key) {
  std::ifstream file(path);
  std::string word;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::uint64_t number = 0;
    if (words >> word >> number && word == key) {
      return number;
    }
  }
  return std::nullopt;
}

/// What a limit leaves; pages of files can be taken back, so they do not count as used.
std::uint64_t left_of(std::uint64_t limit, std::uint64_t used, std::uint64_t reclaimable) {
  if (limit == kUnlimited || used == kUnlimited) {
    return kUnlimited;
  }
  used -= std::min(used, reclaimable);
  return limit - std::min(limit, used);
}

/// Of a control group of either version, and of all that it is part of.
std::uint64_t left_of_group(const std::string& root, std::string path, bool second_version) {
  const char* limit = second_version ? "/memory.max" : "/memory.limit_in_bytes";
  const char* used = second_version ? "/memory.current" : "/memory.usage_in_bytes";
  const char* files = second_version ? "inactive_file" : "total_inactive_file";
  std::uint64_t left = kUnlimited;
  for (;;) {
    const std::string folder = root + path;
    left = std::min(left,
                    left_of(read_number(folder + limit),
                            read_number(folder + used),
                            read_key(folder + "/memory.stat", files).value_or(0)));
    if (path.empty()) {
      return left;
    }
    path.erase(path.rfind('/'));
  }
}

std::uint64_t left_of_groups(const MemoryFiles& files) {
  std::uint64_t left = kUnlimited;
  std::ifstream groups(files.proc + "/self/cgroup");
  // "0::/path" is version 2, "5:memory:/path" version 1.
  for (std::string line; std::getline(groups, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (second == std::string::npos) {
      continue;
    }
    const std::string controllers = line.substr(first + 1, second - first - 1);
    std::string path = line.substr(second + 1);
    path.erase(path.find_last_not_of('/') + 1);
    if (!path.empty() && path.front() != '/') {
      continue;
    }
    if (controllers.empty()) {
      left = std::min(left, left_of_group(files.cgroup, path, true));
    } else if (controllers == "memory") {
      left = std::min(left, left_of_group(files.cgroup + "/memory", path, false));
    }
  }
  return left;
}

std::uint64_t left_of_address_space(const MemoryFiles& files) {
  struct rlimit limit {};
  if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) {
    return kUnlimited;
  }
  const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  const std::uint64_t pages = read_number(files.proc + "/self/statm");
  return left_of(limit.rlim_cur, pages == kUnlimited ? 0 : pages * page, 0);
}

}  // namespace

std::optional<std::uint64_t> available_memory(const MemoryFiles& files) {
  constexpr std::uint64_t kKilobyte = 1024;
  std::uint64_t left = std::min(left_of_groups(files), left_of_address_space(files));
  if (const auto available = read_key(files.proc + "/meminfo", "MemAvailable:")) {
    left = std::min(left, *available * kKilobyte);
  }
  return left == kUnlimited ? std::nullopt : std::optional(left);
}

Error not_enough_memory(std::uint64_t needed,
                        std::uint64_t free,
                        std::string_view advice,
                        std::string where) {
  return input_error(
      fmt::format("needs {}, {} free; use {}", format_binary(needed), format_binary(free), advice),
      std::move(where));
}

Status check_memory_room(std::uint64_t needed,
                         std::optional<std::uint64_t> free,
                         std::string_view advice,
                         std::string where) {
  constexpr std::uint64_t kLittle = std::uint64_t{32} << 20U;
  if (needed <= kLittle && !free) {
    return ok();
  }
  const std::uint64_t room = free ? *free : available_memory().value_or(kUnlimited);
  if (needed > room) {
    return not_enough_memory(needed, room, advice, std::move(where));
  }
  return ok();
}

}  // namespace tacos
