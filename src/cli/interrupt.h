// SPDX-License-Identifier: MIT
// Ctrl-C and friends: stop at once and leave no half-written file.
#pragma once

#include <string>

namespace tacos::cli {

/// From now on SIGINT, SIGTERM and SIGHUP remove the partial file, if one is being written, and
/// exit with code 130; a file that grows beyond a limit is an error like a full disk.
void handle_interrupts();

/// While it lives, an interrupt removes the temporary neighbour of `path`. One at a time.
class PartialFile {
 public:
  explicit PartialFile(const std::string& path);
  PartialFile(const PartialFile&) = delete;
  PartialFile& operator=(const PartialFile&) = delete;
  ~PartialFile();
};

}  // namespace tacos::cli
