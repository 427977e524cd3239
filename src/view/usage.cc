// SPDX-License-Identifier: MIT
#include "view/usage.h"

#include <algorithm>

#include "base/numbers/wide.h"

namespace tacos::viewing {

std::size_t Windows::at(Ticks time) const {
  const auto window = static_cast<std::size_t>(
      Int128{time.ps} * static_cast<std::int64_t>(count()) / std::max<std::int64_t>(time_.ps, 1));
  return std::min(window, count() - 1);
}

Ticks Windows::begin(std::size_t window) const {
  const auto all = static_cast<std::int64_t>(count());
  return {static_cast<std::int64_t>(
      (Int128{time_.ps} * static_cast<std::int64_t>(window) + all - 1) / all)};
}

void Windows::add(Ticks start, Ticks length, std::uint64_t times) {
  const Ticks end = std::min(start + length, time_);
  if (end <= start) {
    return;
  }
  const auto factor = static_cast<std::int64_t>(times);
  const std::size_t first = at(start);
  const std::size_t last = at(end - Ticks{1});
  if (first == last) {
    part_[first] += static_cast<double>((end - start).ps) * static_cast<double>(times);
    return;
  }
  part_[first] += static_cast<double>((begin(first + 1) - start).ps) * static_cast<double>(times);
  part_[last] += static_cast<double>((end - begin(last)).ps) * static_cast<double>(times);
  whole_[first + 1] += factor;
  whole_[last] -= factor;
}

std::vector<float> Windows::means() const {
  std::vector<float> means(count());
  std::int64_t whole = 0;
  for (std::size_t window = 0; window < count(); ++window) {
    whole += whole_[window];
    const auto length = static_cast<double>((begin(window + 1) - begin(window)).ps);
    const double part = length > 0 ? part_[window] / length : 0;
    means[window] = static_cast<float>(static_cast<double>(whole) + part);
  }
  return means;
}

void Cells::add(LinkId link, Ticks start, Ticks length) {
  const Ticks end = start + length;
  std::int64_t* const row = busy_.data() + link.index() * windows_.count();
  for (std::size_t window = windows_.at(start); window < windows_.count(); ++window) {
    const Ticks from = std::max(start, windows_.begin(window));
    const Ticks to = std::min(end, windows_.begin(window + 1));
    if (from >= end) {
      return;
    }
    row[window] += std::max<std::int64_t>((to - from).ps, 0);
  }
}

std::vector<std::uint8_t> Cells::shares() const {
  constexpr double kAll = 255;
  std::vector<std::uint8_t> shares(busy_.size());
  for (std::size_t i = 0; i < busy_.size(); ++i) {
    const std::size_t window = i % windows_.count();
    const auto length =
        static_cast<double>((windows_.begin(window + 1) - windows_.begin(window)).ps);
    const double share = length > 0 ? static_cast<double>(busy_[i]) / length : 0;
    // What is busy at all can be seen.
    shares[i] =
        busy_[i] == 0 ? 0 : static_cast<std::uint8_t>(std::clamp(share * kAll + 0.5, 1., kAll));
  }
  return shares;
}

}  // namespace tacos::viewing
