// SPDX-License-Identifier: MIT
// Where a plan is made: a folder beside its own, `DIR.partial`, with what is done so far.
//
// The schedules that candidates are read back from are files there, each complete or absent; a file
// says what was asked for, and an answer to another question is thrown away. The plan itself grows
// in a folder inside, which is put in its place at the end.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "tacos/bundle.h"
#include "tacos/result.h"

namespace tacos::planning {

class Workshop {
 public:
  /// Refuses a folder that is there and no plan. `request` is the same for calls that make the
  /// same.
  [[nodiscard]] static Result<Workshop> open(const std::string& folder, std::string_view request);

  /// A schedule that was kept, if there is one and it can be read.
  [[nodiscard]] std::optional<Bundle> find(const std::string& name) const;
  [[nodiscard]] Status keep(const std::string& name, const Bundle& bundle) const;

  /// The path of a file of the plan.
  [[nodiscard]] std::string path(const std::string& name) const;
  /// Puts the plan in its place and closes.
  [[nodiscard]] Status finish() const;

 private:
  explicit Workshop(std::string folder) : folder_(std::move(folder)) {}
  [[nodiscard]] std::string root() const { return folder_ + ".partial"; }

  std::string folder_;
};

}  // namespace tacos::planning
