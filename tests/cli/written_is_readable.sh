#!/usr/bin/env bash
# What synth writes, verify reads: also where some NPUs take no part and the rest are all alike.
source "$(dirname "$0")/lib.sh"

for network in h100:1 fc:8 switch:8 torus:4x4 "ring:2*fc:4" dgx1; do
  for collective in all-gather all-reduce broadcast:1; do
    for options in "" "--fail npu:3" "--group 0-3 --no-relay" "--group 1,2,4"; do
      # shellcheck disable=SC2086
      exits 0 synth "$network" "$collective" --size 64KiB $options -o a.tacos
      exits 0 verify a.tacos
      says "valid: "
    done
  done
done

# On a chain that leads one way only, data goes from its begin or to its end.
cat >chain.json <<'JSON'
{"npus": 3, "links": [
  {"src": 0, "dst": 1, "bandwidth_Bps": 50000000000, "latency_ps": 500000},
  {"src": 1, "dst": 2, "bandwidth_Bps": 50000000000, "latency_ps": 500000}]}
JSON
for engine in auto trees matching; do
  exits 0 synth chain.json broadcast:0 --engine "$engine" -o a.tacos
  exits 0 verify a.tacos
  exits 0 synth chain.json reduce:2 --engine "$engine" -o a.tacos
  exits 0 verify a.tacos
done
fails 4 "NPU 1 cannot reach NPU 0" synth chain.json broadcast:1
fails 4 "NPU 2 cannot reach NPU 1" synth chain.json reduce:1
