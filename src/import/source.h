// SPDX-License-Identifier: MIT
// What a reader of some format is given: the text, its name, the latencies to assume, and a place
// for what it could not understand.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "tacos/result.h"
#include "tacos/topology.h"

namespace tacos::importing {

/// What a link is made of, where a file does not say how long it takes.
enum class Hop {
  kPeer,      ///< NPU to NPU: NVLink, xGMI, XeLink
  kSwitched,  ///< NPU to a switch of those
  kPcie,
  kSocket,   ///< CPU to CPU
  kNetwork,  ///< NIC to a switch, or to another NIC
  kFabric    ///< switch to switch
};

/// Per kind of hop. The defaults, and where they come from, are in latencies.cc.
struct Latencies {
  std::array<Ticks, 6> of{};

  [[nodiscard]] Ticks operator[](Hop hop) const { return of[static_cast<std::size_t>(hop)]; }
};
[[nodiscard]] Latencies default_latencies();
/// With `pcie=0.4us` and the like in place of some.
[[nodiscard]] Result<Latencies> parse_latencies(const std::vector<std::string>& changes);

class Source {
 public:
  Source(std::string_view text,
         const std::string& where,
         const Latencies& latencies,
         std::vector<std::string>& warnings)
      : text_(text), where_(where), latencies_(latencies), warnings_(warnings) {}

  [[nodiscard]] std::string_view text() const { return text_; }
  [[nodiscard]] const std::string& where() const { return where_; }
  [[nodiscard]] const Latencies& latencies() const { return latencies_; }
  /// What the network is called: the file, without folder and ending.
  [[nodiscard]] std::string name() const;
  /// "file:line".
  [[nodiscard]] std::string at(std::size_t line) const;
  [[nodiscard]] Error error(std::size_t line, const std::string& message) const;
  void warn(std::size_t line, const std::string& message) const;

 private:
  std::string_view text_;
  const std::string& where_;
  const Latencies& latencies_;
  std::vector<std::string>& warnings_;
};

}  // namespace tacos::importing
