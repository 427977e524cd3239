#!/usr/bin/env bash
# Ctrl-C and SIGTERM stop at once, remove the partial file and exit 130.
source "$(dirname "$0")/lib.sh"

: >out
: >err
for name in SIGINT SIGTERM; do
  python3 - "$tacos" "$name" <<'PYTHON' || die "$name is not handled"
import glob, signal, subprocess, sys, time
signal.signal(signal.SIGINT, signal.SIG_DFL)
process = subprocess.Popen([sys.argv[1], "synth", "mesh:48x48", "all-gather", "--engine", "matching",
                            "--chunks", "1", "--trace", "trace.txt"], stdout=subprocess.DEVNULL)
while process.poll() is None and not glob.glob("*.partial.*"):
    time.sleep(0.001)
process.send_signal(signal.Signals[sys.argv[2]])
code = process.wait()
left = glob.glob("*trace*")
print(f"exit {code}, left {left}")
sys.exit(0 if code == 130 and not left else 1)
PYTHON
done
