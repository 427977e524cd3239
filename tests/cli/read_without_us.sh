#!/usr/bin/env bash
# A schedule file can be read in Python with the standard library alone, from its documentation.
here=$(cd "$(dirname "$0")" && pwd)
source "$(dirname "$0")/lib.sh"

exits 0 synth mesh:4x4,bw=50GBps/75GBps all-reduce --size 1MB -o a.tacos --trace ours.txt
python3 "$here/../../examples/read_schedule.py" a.tacos >theirs.txt
cut -d ' ' -f 1,3- ours.txt >expected.txt
cmp expected.txt theirs.txt || die "the Python reader sees other transfers than the trace"

# The hash in the file is the documented one: another one is noticed.
python3 - <<'PY'
import re, struct, zlib
data = open("a.tacos", "rb").read()
at = data.rindex(b"TAIL")
tail = re.sub(rb'"schedule_hash":"[0-9a-f]{16}"', b'"schedule_hash":"0123456789abcdef"', data[at + 16:])
open("other.tacos", "wb").write(
    data[:at] + b"TAIL" + struct.pack("<IQ", zlib.crc32(tail), len(tail)) + tail)
PY
if python3 "$here/../../examples/read_schedule.py" other.tacos >theirs.txt 2>err; then
  die "the Python reader does not check the hash"
fi
grep -q "the hash does not match" err || die "the Python reader fails for another reason"
