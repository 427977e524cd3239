// SPDX-License-Identifier: MIT
// The standard streams: data on one, words on the other, and no surprise when one cannot be
// written.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/text/printable.h"

namespace tacos::cli {

/// Opens what the caller has closed, so that no file of ours becomes standard output. Writing to
/// what was closed still fails.
void claim_standard_streams();

/// Prints without a word about failure: whether standard output took everything is asked once, at
/// the end, and when stderr takes nothing there is nobody to tell.
template <class... Values>
void emit(std::FILE* stream, fmt::format_string<Values...> form, Values&&... values) {
  const std::string text = fmt::format(form, std::forward<Values>(values)...);
  (void)std::fwrite(text.data(), 1, text.size(), stream);
}

/// Whether all that was printed to standard output arrived; says so when not.
[[nodiscard]] bool flush_output();

/// A sentence that quotes text from outside: printable, and cut where that text is overlong.
[[nodiscard]] std::string one_line(std::string_view sentence);

/// "tacos: SENTENCE" on stderr, one line whatever is in it.
void complain(std::string_view sentence);

}  // namespace tacos::cli
