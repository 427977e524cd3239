#!/usr/bin/env bash
# Signals stop every command that writes at once; it removes the partial file and exits with 128 and the
# number of the signal.
source "$(dirname "$0")/lib.sh"

: >out
: >err
stops() {
  python3 - "$tacos" "$@" <<'PYTHON' || die "$* is not handled"
import glob, signal, subprocess, sys, time
for name in ("SIGINT", "SIGHUP", "SIGTERM"):
    signal.signal(signal.Signals[name], signal.SIG_DFL)
    # Sometimes it is faster than we are, and has finished when the signal comes.
    for attempt in range(20):
        process = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL)
        while process.poll() is None and not glob.glob("*.partial.*"):
            time.sleep(0.001)
        process.send_signal(signal.Signals[name])
        code = process.wait()
        if code != 0:
            break
    left = glob.glob("*.partial.*")
    print(f"{name}: exit {code}, left {left}")
    if code != 128 + signal.Signals[name] or left:
        sys.exit(1)
PYTHON
}
stops synth mesh:48x48 all-gather --engine matching --chunks 1 --trace trace.txt
stops topology convert torus:40x40x40 -o net.json
