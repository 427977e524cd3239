#!/usr/bin/env bash
# An All-Reduce of little is gathered, says so, and is a file like any other.
source "$(dirname "$0")/lib.sh"

exits 0 synth ring:16 all-reduce --size 1KiB --link-model pipelined --json -o a.tacos --trace a.txt
json "result['form'] == 'gathered' and result['scratch_bytes'] == 16 * 1024 and result['verified']"
json "result['collective'] == 'all-reduce' and result['size_bytes'] == 1024"
json "result['efficiency'] > 0.9 and result['effort'] == 5"
exits 0 verify a.tacos
exits 0 simulate a.tacos --json
exits 0 simulate a.tacos --size 2KiB --json
exits 0 explain a.tacos
exits 0 synth ring:16 all-reduce --size 1KiB --link-model pipelined
says "gathered: everybody adds all contributions"
says "16 KiB of scratch"

# Chunk p * C + c starts at participant p, and is only ever copied.
python3 - <<'PY'
import json
k = json.loads(open("a.tacos", "rb").read().split(b"HEAD", 1)[1][12:].split(b"TOPO", 1)[0])["collective"]["chunk_argument"]
held = {(p, p * k + c) for p in range(16) for c in range(k)}
for line in open("a.txt"):
    start, end, src, dst, chunk, op, links = line.split()
    assert op == "copy" and (int(src), int(chunk)) in held, line
    held.add((int(dst), int(chunk)))
assert len(held) == 16 * 16 * k
PY

exits 0 synth ring:16 all-reduce --size 1KiB --link-model pipelined --form direct --json
json "result['form'] == 'direct' and result['scratch_bytes'] == 0"
exits 0 synth ring:16 all-reduce --size 1GiB --form gathered --engine matching --json
json "result['form'] == 'gathered' and result['scratch_bytes'] == 16 << 30"
exits 0 synth ring:4 reduce:2 --size 1KiB --form gathered --json
json "result['form'] == 'gathered' and result['root'] == 2"
exits 0 synth mesh:3x3 all-to-all --size 9KiB --json
json "result['form'] == 'direct' and result['scratch_bytes'] > 0"

fails 3 "all-gather has no gathered form" synth ring:4 all-gather --form gathered
fails 2 "unknown form 'gatherd'; did you mean 'gathered'?" synth ring:4 all-reduce --form gatherd
for effort in 0 10 fast -1; do
  fails 2 "--effort: '$effort' is not a whole number from 1 to 9" synth ring:4 all-reduce --effort "$effort"
done
