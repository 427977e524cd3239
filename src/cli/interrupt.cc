// SPDX-License-Identifier: MIT
// A handler may do little: it reads a path from a fixed buffer, removes that file and exits,
// without running destructors. Other threads go on writing until the very end, to a file without a
// name.
#include "cli/interrupt.h"

#include <array>
#include <atomic>
#include <csignal>
#include <cstddef>

#include <unistd.h>

#include "base/file.h"

namespace tacos::cli {
namespace {

struct Remembered {
  std::array<char, 4096> path{};
  /// Whether `path` is whole; lock-free, so a handler may ask.
  std::atomic<bool> armed = false;
};

Remembered& remembered() {
  // Constant-initialized: no guard that a handler could wait for.
  static constinit Remembered only;
  return only;
}

constexpr int kInterrupted = 130;

extern "C" void stop(int /*signal*/) {
  const Remembered& file = remembered();
  if (file.armed) {
    (void)::unlink(file.path.data());
  }
  // The line of progress, if there is one, ends here.
  constexpr char kNewline = '\n';
  if (::isatty(STDERR_FILENO) == 1) {
    (void)!::write(STDERR_FILENO, &kNewline, 1);
  }
  ::_exit(kInterrupted);
}

}  // namespace

void handle_interrupts() {
  struct sigaction action {};
  action.sa_handler = stop;
  ::sigemptyset(&action.sa_mask);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction before {};
    // A shell lets background jobs ignore Ctrl-C, and nohup hang-ups: keep it so.
    if (::sigaction(signal, nullptr, &before) == 0 && before.sa_handler != SIG_IGN) {
      (void)::sigaction(signal, &action, nullptr);
    }
  }
  action.sa_handler = SIG_IGN;
  (void)::sigaction(SIGXFSZ, &action, nullptr);
}

PartialFile::PartialFile(const std::string& path) {
  const std::string name = AtomicFile::temporary_name(path);
  Remembered& file = remembered();
  if (name.size() < file.path.size()) {
    name.copy(file.path.data(), name.size());
    file.path[name.size()] = '\0';
    file.armed = true;
  }
}

PartialFile::~PartialFile() {
  remembered().armed = false;
}

}  // namespace tacos::cli
