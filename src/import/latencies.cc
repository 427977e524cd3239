// SPDX-License-Identifier: MIT
// How long links take where a file does not say: one table for all formats.
//
// NVLink, NVSwitch and network are the figures that TACCL and TE-CCL measured on NDv2 and DGX-2 and
// publish results with (0.7 us, 0.35 us on either side of an NVSwitch, 2.6 us from box to box); the
// presets ndv2 and dgx2 have the same. For PCIe, sockets and switches of a fabric nobody publishes
// one per hop; 0.25 us each is an assumption.
#include <array>
#include <string_view>

#include <fmt/format.h>

#include "base/text/quantity.h"
#include "base/text/suggest.h"
#include "import/source.h"

namespace tacos::importing {
namespace {

struct NamedLatency {
  std::string_view name;
  Ticks latency;
};

/// In the order of Hop.
constexpr std::array<NamedLatency, 6> kTable{NamedLatency{"nvlink", {700'000}},
                                             NamedLatency{"nvswitch", {350'000}},
                                             NamedLatency{"pcie", {250'000}},
                                             NamedLatency{"cpu", {250'000}},
                                             NamedLatency{"net", {1'300'000}},
                                             NamedLatency{"fabric", {250'000}}};

}  // namespace

Latencies default_latencies() {
  Latencies latencies;
  for (std::size_t hop = 0; hop < kTable.size(); ++hop) {
    latencies.of[hop] = kTable[hop].latency;
  }
  return latencies;
}

Result<Latencies> parse_latencies(const std::vector<std::string>& changes) {
  Latencies latencies = default_latencies();
  for (const std::string& change : changes) {
    const std::size_t equals = change.find('=');
    if (equals == std::string::npos) {
      return input_error("says no time; write pcie=0.4us", "--latency " + change);
    }
    const std::string_view name = std::string_view(change).substr(0, equals);
    std::vector<std::string_view> names;
    std::size_t hop = kTable.size();
    for (std::size_t i = 0; i < kTable.size(); ++i) {
      names.push_back(kTable[i].name);
      hop = kTable[i].name == name ? i : hop;
    }
    if (hop == kTable.size()) {
      return input_error(unknown_name("kind of link", name, names), "--latency " + change);
    }
    const Result<Ticks> time = parse_time(std::string_view(change).substr(equals + 1));
    if (!time) {
      return input_error(time.error().message, "--latency " + change);
    }
    latencies.of[hop] = *time;
  }
  return latencies;
}

}  // namespace tacos::importing
