#!/usr/bin/env bash
# --trace has one line per chunk moved, in start order, that agrees with the network.
source "$(dirname "$0")/lib.sh"

exits 0 synth mesh:3x3,bw=50GBps/25GBps all-reduce --size 1MB --trace trace.txt --json
exits 0 topology show mesh:3x3,bw=50GBps/25GBps --json
python3 - <<'PY' || die "the trace does not agree with the network"
import json
links = json.load(open("out"))["links"]
last = 0
lines = [line.split() for line in open("trace.txt")]
assert len(lines) % (2 * 8) == 0 and lines
for start, end, src, dst, chunk, op, path in lines:
    link = links[int(path)]
    assert int(start) >= last, "not in start order"
    last = int(start)
    assert (link["src"], link["dst"]) == (int(src), int(dst))
    assert int(end) - int(start) > link["latency_ps"]
    assert op in ("copy", "reduce")
PY
