// SPDX-License-Identifier: MIT
#include "import/machines/runtime_speeds.h"

#include <algorithm>
#include <array>
#include <span>

#include "import/board.h"
#include "import/text/fields.h"

namespace tacos::importing {
namespace {

/// From this number on, until the next row.
struct Step {
  std::int64_t from;
  std::int64_t megabytes;
};

Bandwidth look_up(std::span<const Step> steps, std::int64_t number) {
  Bandwidth found = megabytes(steps.front().megabytes);
  for (const Step& step : steps) {
    found = number >= step.from ? megabytes(step.megabytes) : found;
  }
  return found;
}

// By compute capability.
constexpr std::array kNvlink{
    Step{60, 18'000}, Step{70, 20'000}, Step{86, 12'000}, Step{90, 20'600}, Step{100, 40'100}};
// Intel's sixth family by model: Broadwell, Skylake, Sapphire Rapids, Emerald Rapids.
constexpr std::array kIntel{
    Step{0, 6'000}, Step{0x55, 10'000}, Step{0x8F, 22'000}, Step{0xCF, 40'000}};

struct PcieGeneration {
  std::string_view speed;
  /// Of one lane, in units of 1/80 GB/s.
  std::int64_t per_lane;
};
constexpr std::array kPcie{PcieGeneration{"2.5", 15},
                           PcieGeneration{"5", 30},
                           PcieGeneration{"8", 60},
                           PcieGeneration{"16", 120},
                           PcieGeneration{"32", 240},
                           PcieGeneration{"64", 480}};
constexpr std::int64_t kThirdGeneration = 60;
constexpr std::int64_t kLanes = 16;

Bandwidth lanes(std::int64_t per_lane, std::int64_t width) {
  return {per_lane * width * (1'000'000'000 / 80)};
}

}  // namespace

Bandwidth nvlink_bandwidth(std::int64_t sm) {
  return look_up(kNvlink, sm);
}

Bandwidth xgmi_bandwidth(std::string_view gcn) {
  const std::string_view arch = gcn.starts_with("gfx") ? gcn.substr(3) : gcn;
  if (arch.starts_with("94") || arch.starts_with("95")) {
    return megabytes(48'000);
  }
  // 910 is what old files call gfx90a.
  return megabytes(arch.starts_with("90a") || arch == "910" ? 36'000 : 24'000);
}

std::optional<Bandwidth> pcie_bandwidth(std::string_view speed, std::int64_t width) {
  const std::int64_t lane_count = width <= 0 ? kLanes : std::min(width, std::int64_t{64});
  if (trimmed(speed).empty()) {
    return lanes(kThirdGeneration, lane_count);
  }
  std::string_view number = words_of(speed).front();
  if (number.ends_with(".0")) {
    number.remove_suffix(2);
  }
  for (const PcieGeneration& generation : kPcie) {
    if (generation.speed == number) {
      return lanes(generation.per_lane, lane_count);
    }
  }
  return std::nullopt;
}

Bandwidth default_pcie_bandwidth() {
  return lanes(kThirdGeneration, kLanes);
}

Bandwidth socket_bandwidth(const CpuModel& cpu) {
  if (cpu.arch.starts_with("ppc")) {
    return megabytes(32'000);
  }
  if (cpu.arch == "arm64" || cpu.arch == "aarch64") {
    return megabytes(6'000);
  }
  if (cpu.vendor == "AuthenticAMD") {
    return megabytes(16'000);
  }
  if (cpu.vendor == "GenuineIntel" && cpu.family == 6) {
    return look_up(kIntel, cpu.model);
  }
  // A Chinese x86 of Zhaoxin, and whatever else: as Broadwell's.
  return megabytes(6'000);
}

}  // namespace tacos::importing
