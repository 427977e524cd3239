#!/usr/bin/env bash
# bound prints the limit first, why in one sentence, and the certificate as JSON.
source "$(dirname "$0")/lib.sh"

exits 0 bound mesh:8x8 all-gather
head -n 1 out | grep -qE '^all-gather of 1 GiB on mesh:8x8, hold model: at least 10\.57[0-9] ms$' ||
  die "the first line is not the result"
says "NPU 0 must receive 63/64 of the buffer over 2 links of 50 GB/s"
exits 0 bound mesh:8x8 all-reduce --json
json "abs(result['bandwidth_bound_us'] - 12079.6) < 0.1 and result['bound_exact'] is True"
json "result['certificate']['kind'] in ('partition', 'cut') and 'text' in result['certificate']"
json "set(result['bandwidth_certificate']['parts']) == set(range(64))"
for collective in broadcast:3 reduce gather scatter:63 all-to-all reduce-scatter; do
  exits 0 bound 'ring:2*fc:4*switch:8,bw=200GBps/100GBps/50GBps' "$collective" --size 64MiB --json
  json "0 < result['bandwidth_bound_us'] <= result['bound_us']"
done
# The same cut, checked by hand from the certificate and the network.
exits 0 bound mesh:3x3,bw=50GBps/25GBps all-gather --size 9MB --json
cp out bound.json
exits 0 topology show mesh:3x3,bw=50GBps/25GBps --json
python3 - <<'PY' || die "the certificate does not add up"
import json
bound, network = json.load(open("bound.json")), json.load(open("out"))
cut = bound["bandwidth_certificate"]
inside = set(cut["receivers"])
into = sum(l["bandwidth_Bps"] for l in network["links"]
           if l["dst"] in inside and l["src"] not in inside)
missing = (9 - len(inside)) * 1_000_000
assert into == cut["bandwidth_Bps"] and missing == cut["bytes"]
assert abs(missing / into * 1e6 - bound["bandwidth_bound_us"]) < 1e-3
PY

fails 3 "did you mean 'broadcast'" bound mesh:8x8 brodcast
fails 3 "99" bound mesh:8x8 broadcast:99
fails 3 "size" bound mesh:8x8 all-gather --size 0
echo '{"npus": 3, "links": [{"src": 0, "dst": 1, "bandwidth_Bps": 5}, {"src": 1, "dst": 0, "bandwidth_Bps": 5}]}' >cut.json
fails 4 "cannot reach" bound cut.json all-gather
# Speeds that overflow 64 bits when multiplied are still right.
exits 0 bound mesh:4x4,bw=999999999999999999Bps/999999999999999989Bps all-reduce --size 1000000TB --json
json "result['bound_us'] > 1"
