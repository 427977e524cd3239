// SPDX-License-Identifier: MIT
// What went wrong, where, and what to do about it.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "tacos/ids.h"

namespace tacos {

enum class ErrorCode {
  kInternal,    ///< our own mistake, or standard output that cannot be written
  kUsage,       ///< the command line cannot be understood
  kInput,       ///< a topology, collective, size or file that cannot be used (its disk is full)
  kInfeasible,  ///< no schedule exists
  kCancelled,   ///< whoever asked for it does not want it any more
};

struct Error {
  ErrorCode code = ErrorCode::kInternal;
  /// One sentence: what is wrong, what was expected.
  std::string message;
  /// file:line:column, a JSON path or an option; empty when the message says it all.
  std::string where;
  /// Of kInfeasible, where two NPUs are the reason: data of the first cannot reach the second.
  std::optional<std::pair<NodeId, NodeId>> unreachable = std::nullopt;

  [[nodiscard]] std::string to_string() const {
    return where.empty() ? message : where + ": " + message;
  }
};

[[nodiscard]] inline Error input_error(std::string message, std::string where = {}) {
  return {ErrorCode::kInput, std::move(message), std::move(where)};
}

}  // namespace tacos
