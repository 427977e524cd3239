// SPDX-License-Identifier: MIT
// A handler may do little: it removes what is half-written and exits, without running destructors.
// Other threads go on writing until the very end, to a file without a name.
#include "cli/terminal/interrupt.h"

#include <csignal>

#include <unistd.h>

#include "base/files/partial_files.h"

namespace tacos::cli {
namespace {

extern "C" void stop(int signal) {
  // The line of progress, if there is one, ends here.
  constexpr char kNewline = '\n';
  if (::isatty(STDERR_FILENO) == 1) {
    (void)!::write(STDERR_FILENO, &kNewline, 1);
  }
  // As a shell says it.
  constexpr int kFirstSignal = 128;
  remove_partial_files();
  ::_exit(kFirstSignal + signal);
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

}  // namespace tacos::cli
