// SPDX-License-Identifier: MIT
// A schedule that was made just now, and what is to be known about it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tacos/bound.h"
#include "tacos/bundle.h"
#include "tacos/result.h"
#include "tacos/synthesize.h"

#include "work.h"

namespace tacos::python {

struct Outcome {
  std::shared_ptr<Bundle> bundle;
  BoundReport bound = {};
  /// Empty when it is correct.
  std::vector<std::string> violations = {};
  std::int64_t trials = 0;
  std::vector<Synthesis::Comparison> compared = {};
  double synthesis_seconds = 0;
  double verify_seconds = 0;
  double bound_seconds = 0;
};

/// Which share of the work is what.
struct Shares {
  double synthesis = 0;
  double verification = 0;
};

/// Progress of work that has several stages.
class Stages {
 public:
  Stages(const Watch& watch, const Shares& shares) : watch_(watch), shares_(shares) {}

  [[nodiscard]] std::function<void(double)> synthesis() const {
    return [this](double share) { watch_.progress(shares_.synthesis * share); };
  }
  [[nodiscard]] std::function<void(double)> verification() const {
    return
        [this](double share) { watch_.progress(shares_.synthesis + shares_.verification * share); };
  }
  [[nodiscard]] const Watch& watch() const { return watch_; }

 private:
  const Watch& watch_;
  Shares shares_;
};

/// Verifies and bounds it. Fails when it is faster than its bound says it can be.
[[nodiscard]] Result<Outcome> examined(Outcome outcome, const Stages& stages, int threads);

}  // namespace tacos::python
