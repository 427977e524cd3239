#!/usr/bin/env bash
# All-to-All, Gather and Scatter: through switches, near the bound, the same on any thread count.
source "$(dirname "$0")/lib.sh"

exits 0 synth dgx2:2 all-to-all --size 1MB --chunks 1 --threads 1 -o one.tacos --trace trace.txt --json
json "result['engine'] in ('routing', 'exchange') and result['verified'] is True and result['chunks'] == 32 * 32"
json "result['transfers'] < 1813 and result['bound_us'] <= result['collective_time_us']"
# A route through a switch is one transfer over two links.
awk '$7 ~ /,/ { routes += 1 } END { exit routes > 0 ? 0 : 1 }' trace.txt || die "no route of two links"
exits 0 verify one.tacos
exits 0 synth dgx2:2 all-to-all --size 1MB --chunks 1 --threads 3 -o three.tacos
cmp one.tacos three.tacos || die "files differ between 1 and 3 threads"

for collective in all-to-all gather:3 scatter:3; do
  for network in mesh:4x4 dgx1 "switch:4*ring:4,bw=100GBps/50GBps"; do
    exits 0 synth "$network" "$collective" --json
    json "result['engine'] in ('routing', 'exchange') and result['verified'] is True"
    json "result['bandwidth_bound_us'] / result['collective_time_us'] > 0.96"
    exits 0 synth "$network" "$collective" --link-model pipelined --json
    json "result['verified'] is True and result['bandwidth_bound_us'] / result['collective_time_us'] > 0.96"
  done
done

cat >one_way.json <<'JSON'
{"npus": 3, "links": [
  {"src": 0, "dst": 1, "bandwidth_Bps": 1000000000},
  {"src": 1, "dst": 2, "bandwidth_Bps": 1000000000}]}
JSON
exits 0 synth one_way.json gather:2 --size 3MB
fails 4 "NPU 1 cannot reach NPU 0" synth one_way.json gather:0
fails 4 "NPU 1 cannot reach NPU 0" synth one_way.json all-to-all
fails 3 "root 7 does not exist" synth mesh:2x2 gather:7
fails 3 "engine routing does not make all-gather" \
  synth mesh:2x2 all-gather --engine routing
fails 3 "53 days" synth ring:2,bw=1Bps all-to-all --size 1000TB
