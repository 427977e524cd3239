#!/usr/bin/env bash
# The engine symmetric: a pattern in a small file, verified without expanding it, equal to its trace.
here=$(cd "$(dirname "$0")" && pwd)
source "$(dirname "$0")/lib.sh"

networks=('ring:5' 'torus:3x4,bw=50GBps/25GBps' 'hypercube:4' 'fc:5'
  'ring:2*fc:3*switch:4,bw=200GBps/100GBps/50GBps,lat=3ns')
for network in "${networks[@]}"; do
  for what in 'all-gather hold' 'reduce-scatter pipelined' 'all-reduce hold'; do
    read -r collective model <<<"$what"
    exits 0 synth "$network" "$collective" --engine symmetric --size 100003B --chunks 2 \
      --link-model "$model" -o a.tacos --trace ours.txt
    says "symmetric, seed 1"
    exits 0 verify a.tacos
    says "valid: $collective of 100,003 B on $network"
    python3 "$here/../../examples/read_schedule.py" a.tacos >theirs.txt
    cut -d ' ' -f 1,3- ours.txt >expected.txt
    cmp expected.txt theirs.txt || die "$network $collective: the file expands to another trace"
  done
done

# Every NPU sends the same: as many lines out of each, and one of each chunk into each other NPU.
exits 0 synth torus:3x3 all-gather --engine symmetric --chunks 2 --trace trace.txt
python3 - <<'PY' || die "the trace is not an all-gather"
lines = [line.split() for line in open("trace.txt")]
assert len(lines) == 9 * 8 * 2
assert len({(line[3], line[4]) for line in lines}) == len(lines)
assert lines == sorted(lines, key=lambda line: (int(line[0]), int(line[6].split(",")[0])))
PY

# A million NPUs, 10^12 transfers: a few megabytes.
exits 0 synth torus:100x100x100 all-gather -o big.tacos --json
json "result['engine'] == 'symmetric' and result['verified'] and result['transfers'] == 999999 * 10**6"
# 166,667 steps of 0.5 us and 1,074 bytes at 50 GB/s: no All-Gather of whole chunks is faster.
json "round(result['collective_time_us'] * 10**6) == 166667 * (500000 + 21480)"
[ "$(wc -c <big.tacos)" -lt 10000000 ] || die "the file is not small"
exits 0 verify big.tacos --json
json "result['verified'] and result['transfers'] == 999999 * 10**6"

# A network from a file is symmetric when it says which it is, and only when it is.
exits 0 topology show torus:3x4 --json
cp out torus.json
exits 0 synth torus.json all-gather --engine symmetric
sed '0,/"bandwidth_Bps": 50000000000/s//"bandwidth_Bps": 25000000000/' torus.json >slow.json
sed 's/torus:3x4/mine/' torus.json >mine.json
for file in slow.json mine.json; do
  fails 3 "engine symmetric does not make all-gather on this network" synth "$file" all-gather --engine symmetric
  exits 0 synth "$file" all-gather --json
  json "result['engine'] != 'symmetric'"
done
fails 3 "engine symmetric does not make all-gather on this network" synth mesh:3x3 all-gather --engine symmetric
fails 3 "engine symmetric does not make all-gather on this network" synth dragonfly:2x3 all-gather --engine symmetric

# A pattern for another network, and one that was changed.
exits 0 synth torus:4x4 all-gather --engine symmetric --chunks 1 -o a.tacos
python3 - <<'PY'
import struct, zlib
data = open("a.tacos", "rb").read()
def sections():
    at = 8
    while at < len(data):
        tag, _, length = struct.unpack_from("<4sIQ", data, at)
        yield tag, data[at + 16:at + 16 + length]
        at += 16 + length
def write(path, change):
    with open(path, "wb") as file:
        file.write(b"TACOSCH\n")
        for tag, payload in sections():
            payload = change(tag, payload)
            file.write(struct.pack("<4sIQ", tag, zlib.crc32(payload), len(payload)) + payload)
write("slow.tacos", lambda tag, payload: payload.replace(b"50000000000", b"25000000000", 1)
      if tag == b"TOPO" else payload)
write("changed.tacos", lambda tag, payload: payload[:-2] + bytes([payload[-2] ^ 1, payload[-1]])
      if tag == b"PTRN" else payload)
write("late.tacos", lambda tag, payload: payload.replace(b'"collective_time_ps":', b'"collective_time_ps":1')
      if tag == b"TAIL" else payload)
PY
exits 5 verify slow.tacos
fails 3 "pattern" verify changed.tacos
exits 5 verify late.tacos
