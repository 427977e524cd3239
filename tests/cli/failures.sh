#!/usr/bin/env bash
# --fail: the schedule and the bound are of what is left, and both say so.
source "$(dirname "$0")/lib.sh"

exits 0 synth mesh:4x4 all-gather --size 16MiB --fail link:0-1 --fail 'link:5>6' --json \
  -o a.tacos --trace trace.txt
json "result['topology'] == 'mesh:4x4 --fail link:0-1 --fail link:5>6'"
json "result['links'] == 45 and result['verified'] is True and result['efficiency'] > 0.9"
exits 0 verify a.tacos
says "on mesh:4x4 --fail link:0-1 --fail link:5>6"
# The network that the links of the trace belong to.
exits 0 topology show mesh:4x4 --fail link:0-1 --fail 'link:5>6' --json
python3 - <<'PY' || die "the trace uses a link that is not there"
import json
links = [(l["src"], l["dst"]) for l in json.load(open("out"))["links"]]
assert not {(0, 1), (1, 0), (5, 6)} & set(links) and (6, 5) in links
for line in open("trace.txt"):
    start, end, src, dst, chunk, op, path = line.split()
    hops = [links[int(i)] for i in path.split(",")]
    assert hops[0][0] == int(src) and hops[-1][1] == int(dst)
PY

# A failed NPU takes no part.
exits 0 synth mesh:4x4 all-reduce --size 16MiB --fail npu:5 --json -o a.tacos
json "result['npus'] == 16 and result['participants'] == 15 and result['verified'] is True"
exits 0 verify a.tacos
exits 0 synth switch:4 all-gather --size 1MiB --fail npu:0 --json
json "result['participants'] == 3 and result['verified'] is True"

# Half the bandwidth into the corner is twice the time.
exits 0 bound ring:4 broadcast:0 --json
cp out whole
exits 0 bound ring:4 broadcast:0 --fail slow:0-1=0.5 --fail slow:0-3=0.5 --json
json "abs(result['bandwidth_bound_us'] / json.load(open('whole'))['bandwidth_bound_us'] - 2) < 1e-6"

for command in synth bound; do
  fails 4 "NPU 0 cannot reach NPU 1" "$command" ring:4 all-gather --fail link:0-1 --fail link:2-3
  fails 3 "did you mean 'link'" "$command" mesh:4x4 all-gather --fail lnk:0-1
  fails 3 "no link between node 0 and node 9" "$command" mesh:4x4 all-gather --fail link:0-9
  fails 3 "NPU 99 does not exist" "$command" mesh:4x4 all-gather --fail npu:99
  fails 3 "node 4 is a switch" "$command" switch:4 all-gather --fail npu:4
  fails 3 "above 0 and at most 1" "$command" mesh:4x4 all-gather --fail slow:0-1=2
  fails 3 "NPU 3 fails twice" "$command" mesh:4x4 all-gather --fail npu:3 --fail npu:3
  fails 3 "root 3 has failed" "$command" mesh:4x4 broadcast:3 --fail npu:3
done
