// SPDX-License-Identifier: MIT
// Names of the library that reads arguments: it takes seconds to compile, so only who calls it
// includes it.
#pragma once

// NOLINTNEXTLINE(readability-identifier-naming): theirs.
namespace CLI {
class App;
class Option;
class ParseError;
}  // namespace CLI
