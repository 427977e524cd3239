#!/usr/bin/env bash
# Same input, options and seed: same bytes, on any thread count.
source "$(dirname "$0")/lib.sh"

for network in torus:6x6 torus:30x30 mesh:24x24 mesh:5x5,bw=50GBps/75GBps; do
  exits 0 synth "$network" all-reduce --threads 1 -o one.tacos
  exits 0 synth "$network" all-reduce --threads 4 -o four.tacos
  cmp one.tacos four.tacos || die "$network: files differ between 1 and 4 threads"
done
exits 0 synth mesh:5x5 all-reduce --engine matching --chunks 50 --seed 1 --json
cp out first
exits 0 synth mesh:5x5 all-reduce --engine matching --chunks 50 --seed 2 --json
python3 - <<'PY' || die "another seed gives the same schedule"
import json
assert json.load(open("first"))["schedule_hash"] != json.load(open("out"))["schedule_hash"]
PY
