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

# A network from a file need not say what it is. `plain` takes away the name and the dimensions, and
# with a seed gives the NPUs other names and the links another order.
plain() {
  exits 0 topology show "$1" --json
  python3 - "$2" "${3:-0}" <<'PY'
import json, random, sys
network = json.load(open("out"))
network = {key: network[key] for key in ("npus", "switches", "links")}
draw = random.Random(int(sys.argv[2]))
if sys.argv[2] != "0":
    names = list(range(network["npus"]))
    draw.shuffle(names)
    names += range(network["npus"], network["npus"] + network["switches"])
    for link in network["links"]:
        link["src"], link["dst"] = names[link["src"]], names[link["dst"]]
    draw.shuffle(network["links"])
json.dump(network, open(sys.argv[1], "w"), indent=1)
PY
}
exits 0 synth torus:8x8 all-gather --json
time_of_torus=$(python3 -c "import json; print(json.load(open('out'))['collective_time_us'])")
for seed in 0 1; do
  plain torus:8x8 my-torus.json "$seed"
  exits 0 synth my-torus.json all-gather --json
  json "result['engine'] == 'symmetric' and result['verified']"
  json "result['collective_time_us'] == $time_of_torus"
done

# Its schedule is stored as what one NPU's chunks do and the symmetries, and is the same when expanded.
for network in torus:3x4 hypercube:4 switch:5 dragonfly:3x4 a100:2; do
  plain "$network" mine.json 7
  for collective in all-gather reduce-scatter all-reduce; do
    exits 0 synth mine.json "$collective" --engine symmetric --size 100003B --chunks 2 \
      -o a.tacos --trace ours.txt
    says "symmetric, seed 1"
    exits 0 verify a.tacos
    python3 "$here/../../examples/read_schedule.py" a.tacos >theirs.txt
    cut -d ' ' -f 1,3- ours.txt >expected.txt
    cmp expected.txt theirs.txt || die "$network $collective: the file expands to another trace"
  done
done
plain torus:40x40 large.json 7
exits 0 synth large.json all-gather -o a.tacos --json
json "result['engine'] == 'symmetric' and result['transfers'] == 1599 * 1600"
[ "$(wc -c <a.tacos)" -lt 1000000 ] || die "the file is not small"

# What is not symmetric is refused in one sentence, and left to other engines without --engine.
refused="engine symmetric does not make all-gather on this network"
plain torus:3x4 mine.json
sed '0,/"bandwidth_Bps": 50000000000/s//"bandwidth_Bps": 25000000000/' mine.json >slow.json
exits 0 synth slow.json all-gather --json
json "result['engine'] != 'symmetric'"
for network in slow.json mesh:3x3 dgx1 fat-tree:4 dragonfly:5x6; do
  fails 3 "$refused" synth "$network" all-gather --engine symmetric
done
fails 3 "$refused" synth torus:4x4 all-gather --engine symmetric --fail link:0-1

# A pattern for another network, and one that was changed.
cat >tamper.py <<'PY'
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
PY
exits 0 synth torus:4x4 all-gather --engine symmetric --chunks 1 -o a.tacos
PYTHONPATH=. python3 - <<'PY'
from tamper import write
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

# The same for symmetries that were found.
plain torus:4x4 mine.json
exits 0 synth mine.json all-gather --engine symmetric --chunks 1 -o a.tacos
PYTHONPATH=. python3 - <<'PY'
from tamper import sections, write
assert b"ORBT" in [tag for tag, _ in sections()]
write("slow.tacos", lambda tag, payload: payload.replace(b"50000000000", b"25000000000", 1)
      if tag == b"TOPO" else payload)
write("changed.tacos", lambda tag, payload: payload[:-2] + bytes([payload[-2] ^ 1, payload[-1]])
      if tag == b"ORBT" else payload)
PY
exits 5 verify slow.tacos
fails 3 "do not match their hash" verify changed.tacos
