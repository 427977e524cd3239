#!/usr/bin/env bash
# --fail: the schedule and the bound are of what is left, and both say so.
source "$(dirname "$0")/lib.sh"

exits 0 synth mesh:4x4 all-gather --size 16MiB --fail link:0-1 --fail 'link:5>6' --json \
  -o a.tacos --trace trace.txt
json "result['topology'] == 'mesh:4x4 --fail link:0-1 --fail link:5>6'"
json "result['links'] == 45 and result['verified'] is True and result['efficiency'] > 0.9"
exits 0 verify a.tacos
says "on mesh:4x4 --fail link:0-1 --fail link:5>6"
# The links of the trace are those of the network as it was given.
exits 0 topology show mesh:4x4 --json
cp out whole
exits 0 topology show mesh:4x4 --fail link:0-1 --fail 'link:5>6' --json
python3 - <<'PY' || die "the trace uses a link that is not there"
import json
links = json.load(open("out"))["links"]
failed = {(l["src"], l["dst"]) for l in links if l.get("failed")}
assert failed == {(0, 1), (1, 0), (5, 6)} and len(links) == 48
whole = json.load(open("whole"))["links"]
assert [(l["src"], l["dst"]) for l in links] == [(l["src"], l["dst"]) for l in whole]
for line in open("trace.txt"):
    start, end, src, dst, chunk, op, path = line.split()
    hops = [links[int(i)] for i in path.split(",")]
    assert hops[0]["src"] == int(src) and hops[-1]["dst"] == int(dst)
    assert not any("failed" in hop for hop in hops)
PY

# So they are without relays, and after a failure of what had failed already.
exits 0 synth mesh:4x4 all-gather --size 16MiB --group 12-15 --no-relay --trace trace.txt --json
json "result['links'] == 6"
python3 - <<'PY' || die "the links of a group have other ids"
import json
links = json.load(open("whole"))["links"]
for line in open("trace.txt"):
    start, end, src, dst, chunk, op, path = line.split()
    hops = [links[int(i)] for i in path.split(",")]
    assert hops[0]["src"] == int(src) and hops[-1]["dst"] == int(dst) and int(src) >= 12
PY
exits 0 topology convert mesh:4x4 --fail link:0-1 -o once.json
exits 0 topology show once.json --fail link:5-6 --json
python3 -c "
import json
failed = [l for l in json.load(open('out'))['links'] if l.get('failed')]
assert len(failed) == 4, failed" || die "a link works again after another failed"
exits 0 topology show once.json
says "46 links"
says "failed links"
fails 3 "link 0-1 has failed already" topology show once.json --fail link:0-1

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
