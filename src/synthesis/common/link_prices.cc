// SPDX-License-Identifier: MIT
#include "synthesis/common/link_prices.h"

#include <algorithm>

namespace tacos {
namespace {

constexpr std::uint64_t kPriceOfFull = std::uint64_t{1} << 26U;
constexpr std::uint64_t kHighestPrice = std::uint64_t{1} << 30U;
/// Weights are times scaled to at most this.
constexpr std::int64_t kHeaviest = std::int64_t{1} << 16U;
/// Messages that are short against the latency share transfers, and then pay this part of theirs.
constexpr std::int64_t kShare = 16;
constexpr std::int64_t kMostPs = std::int64_t{1} << 46U;

}  // namespace

LinkPrices::LinkPrices(const Topology& topology, Bytes chunk_bytes, LinkModel link_model) {
  const std::uint32_t links = topology.num_links();
  weight_.resize(links);
  time_.resize(links);
  Ticks longest{1};
  for (const Link& link : topology.links()) {
    longest = std::max(longest, link_cost(link, chunk_bytes, link_model).arrival);
  }
  const auto scaled = [&](Ticks time) {
    // Both are below 2^63; what is lost by dropping low bits together is no more than a weight.
    std::int64_t ps = time.ps;
    std::int64_t most = longest.ps;
    for (; most > kMostPs; most /= 2) {
      ps /= 2;
    }
    return static_cast<std::uint64_t>(std::max<std::int64_t>(1, ps * kHeaviest / most));
  };
  for (std::uint32_t link = 0; link < links; ++link) {
    const Link& made = topology.link(LinkId(link));
    const LinkCost cost = link_cost(made, chunk_bytes, link_model);
    const std::int64_t bare = serialization_time(chunk_bytes, made.bandwidth).ps;
    weight_[link] = scaled(std::min(cost.busy, Ticks{bare + bare / kShare}));
    time_[link] = scaled(cost.arrival);
  }
  load_.assign(links, 0);
}

void LinkPrices::prefer_shortest() {
  for (std::size_t i = 0; i < kPrices; ++i) {
    price_[i] = i * kPriceOfTime / (kPrices * kPrices);
  }
}

void LinkPrices::set_stage(std::size_t stage) {
  /// The price halves within these shares of the fullest load, and again below that.
  constexpr std::array<std::uint64_t, kStages> kHalvings{
      kFull / 10, kFull / 20, kFull / 40, kFull / 80};
  // 2^-1/h is about 1 - 1/c for c = h / ln 2; ten more bits make up for the truncation.
  constexpr std::uint64_t kLn2Percent = 69;
  const std::uint64_t c = kHalvings[stage] * 100 / kLn2Percent + 1;
  std::uint64_t price = kPriceOfFull << 10U;
  for (std::size_t i = kFull; i-- > 0;) {
    price -= price / c;
    price_[i] = price >> 10U;
  }
  price = kPriceOfFull << 10U;
  for (std::size_t i = kFull; i < kPrices; ++i) {
    price_[i] = std::min(price >> 10U, kHighestPrice);
    price = price_[i] == kHighestPrice ? price : price + price / c;
  }
  fullest_ = std::max<std::uint64_t>(1, *std::max_element(load_.begin(), load_.end()));
}

}  // namespace tacos
