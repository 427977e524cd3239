#!/usr/bin/env bash
# --group runs a collective over some NPUs; --no-relay keeps the others out of it.
source "$(dirname "$0")/lib.sh"

exits 0 synth mesh:4x4 all-gather --size 4MiB --group 0-3,7 --no-relay --json -o a.tacos \
  --trace trace.txt
json "result['npus'] == 16 and result['participants'] == 5 and result['verified'] is True"
json "result['chunks'] == 5 * result['chunks_per_npu']"
exits 0 verify a.tacos
python3 - <<'PY' || die "an NPU outside the group carries data"
group = {0, 1, 2, 3, 7}
for line in open("trace.txt"):
    start, end, src, dst, chunk, op, path = line.split()
    assert int(src) in group and int(dst) in group
PY
exits 0 synth switch:8 all-reduce --size 4MiB --group 6,1,3 --no-relay
says "8 NPUs (3 take part)"

# With relays NPU 0 has a second way in, and the bound knows.
exits 0 bound mesh:4x4 all-gather --group 0-3 --no-relay --json
cp out alone
exits 0 bound mesh:4x4 all-gather --group 0-3 --json
json "result['participants'] == 4"
json "result['bandwidth_bound_us'] < json.load(open('alone'))['bandwidth_bound_us']"
exits 0 bound mesh:4x4 broadcast:8 --group 8-11 --json
json "result['root'] == 8"
exits 0 synth mesh:4x4 all-gather --group 7 --json
json "result['participants'] == 1 and result['transfers'] == 0"

for command in synth bound; do
  fails 3 "NPU 16 does not exist; NPUs are 0 to 15" "$command" mesh:4x4 all-gather --group 0,16
  fails 3 "NPU 2 is listed twice" "$command" mesh:4x4 all-gather --group 0-3,2
  fails 3 "the group is empty" "$command" mesh:4x4 all-gather --group ''
  fails 3 "range 3-0 is backwards" "$command" mesh:4x4 all-gather --group 3-0
  fails 3 "neither an NPU nor a range" "$command" mesh:4x4 all-gather --group 0,a
  fails 3 "root 9 is not in the group" "$command" mesh:4x4 broadcast:9 --group 0-3
  fails 3 "root 99 does not exist" "$command" mesh:4x4 broadcast:99 --group 0-3
  fails 3 "NPU 2 of the group has failed" "$command" mesh:4x4 all-gather --group 0-3 --fail npu:2
  fails 4 "NPU 0 cannot reach NPU 8" "$command" mesh:4x4 all-gather --group 0,8 --no-relay
done
