#!/usr/bin/env bash
# topology list, show and convert.
source "$(dirname "$0")/lib.sh"

exits 0 topology list
for kind in ring: mesh: torus: hypercube: fc: switch: dragonfly: leaf-spine: fat-tree: rail: tpu-v3 \
  tpu-v4 hetero-mesh hetero-switch rfs switch-2d dgx1 ndv2: dgx2: a100: h100: mi250:; do
  says "$kind"
done
says "unwind="
exits 0 topology show mesh:8x8
says "mesh:8x8: 64 NPUs, 0 switches, 224 links"
says "50 GB/s"
exits 0 topology show mesh:2x2 --json
json "result['npus'] == 4 and result['switches'] == 0 and len(result['links']) == 8"
json "result['links'][0] == {'src': 0, 'dst': 1, 'bandwidth_Bps': 50000000000, 'latency_ps': 500000}"
exits 0 topology convert mesh:2x2,bw=50GBps/75GBps -o net.json
exits 0 topology convert net.json -o again.json
cmp net.json again.json || die "converting a file changes it"
exits 0 synth net.json all-gather --size 1MB --json
json "result['topology'] == 'mesh:2x2,bw=50GBps/75GBps'"
# The first dimension varies fastest.
exits 0 topology show mesh:3x2,bw=10GBps/20GBps --json
json "[l for l in result['links'] if l['src'] == 0 and l['dst'] == 1][0]['bandwidth_Bps'] == 10**10"
json "[l for l in result['links'] if l['src'] == 0 and l['dst'] == 3][0]['bandwidth_Bps'] == 2 * 10**10"
fails 3 "cannot be read" topology show missing.json
fails 3 "cannot be written" topology convert ring:2 -o no/such/net.json
# Switches: counted, unwound, and refused without a port.
exits 0 topology show rail:4x8,bw=450GBps/50GBps
says "32 NPUs, 12 switches, 128 links"
exits 0 topology show rail:4x8,unwind=3
says "32 NPUs, 0 switches, 192 links"
exits 0 synth fat-tree:4 all-gather --size 1MB --json
json "result['verified'] is True and result['npus'] == 16"
echo '{"npus": 2, "switches": 1, "links": [{"src": 0, "dst": 1, "bandwidth_Bps": 5}]}' >portless.json
fails 3 "switch 2 has no port" topology show portless.json
