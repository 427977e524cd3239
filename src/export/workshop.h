// SPDX-License-Identifier: MIT
// Where a folder of schedules is made: in one beside it, `DIR.partial`, with what is done so far.
//
// What was made already are files there, each complete or absent; a file says what was asked for,
// and an answer to another question is thrown away. The folder itself grows in one inside, which is
// put in its place at the end.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "tacos/bundle.h"
#include "tacos/result.h"

namespace tacos::exporting {

/// What is made: the file that such a folder has, and what people call it.
struct Product {
  std::string_view index;
  std::string_view name;
};

class Workshop {
 public:
  /// Refuses a folder that is there and something else. `request` is the same for calls that make
  /// the same.
  [[nodiscard]] static Result<Workshop> open(const std::string& folder,
                                             const Product& product,
                                             std::string_view request);

  /// A schedule that was kept, if there is one and it can be read.
  [[nodiscard]] std::optional<Bundle> find(const std::string& name) const;
  [[nodiscard]] Status keep(const std::string& name, const Bundle& bundle) const;
  /// The same for other files.
  [[nodiscard]] std::optional<std::string> find_text(const std::string& name) const;
  [[nodiscard]] Status keep_text(const std::string& name, std::string_view text) const;

  /// The path of a file of the folder.
  [[nodiscard]] std::string path(const std::string& name) const;
  /// Moves a schedule that was kept into it.
  [[nodiscard]] Status deliver(const std::string& name) const;
  /// Puts the folder in its place and closes.
  [[nodiscard]] Status finish() const;

 private:
  explicit Workshop(std::string folder) : folder_(std::move(folder)) {}
  [[nodiscard]] std::string root() const { return folder_ + ".partial"; }

  std::string folder_;
};

}  // namespace tacos::exporting
