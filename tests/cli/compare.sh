#!/usr/bin/env bash
# compare: ours beside the algorithms that people know.
source "$(dirname "$0")/lib.sh"

exits 0 compare mesh:4x4 all-reduce --size 16MiB
says "all-reduce of 16 MiB on mesh:4x4, hold model: tacos takes"
says "* passes NPUs, as if they forwarded"
says "left out: hierarchical is for equal boxes"
says "left out, for other collectives: bruck, pairwise"
exits 0 compare mesh:4x4 all-reduce --size 16MiB --json
json "[row['collective_time_us'] for row in result['rows']] == sorted(row['collective_time_us'] for row in result['rows'])"
json "all(row['verified'] for row in result['rows'])"
json "{row['algorithm']: row['forwarded'] for row in result['rows']} == dict({'tacos': False, 'ring': False, 'bidirectional-ring': False, 'multitree': False, 'rs-ag': False}, **{name: True for name in ('direct', 'halving-doubling', 'double-binary-tree', 'blueconnect', 'themis', 'binomial')})"
json "result['rows'][0]['algorithm'] == 'tacos' and result['rows'][0]['speedup'] == 1"
json "all(row['bound_us'] == result['rows'][0]['bound_us'] and 0 < row['utilization'] <= 1 for row in result['rows'])"

# Ours is never behind what the network as given allows.
for task in "h100:2 all-to-all" "switch:8 all-gather" "dgx1 all-reduce" "fc:8 broadcast"; do
  for size in 1KiB 1MiB; do
    for model in hold pipelined; do
      # shellcheck disable=SC2086
      exits 0 compare $task --size "$size" --link-model "$model" --json
      json "all(row['forwarded'] or row['speedup'] >= 1 for row in result['rows'])"
    done
  done
done

exits 0 compare ring:4 all-gather --sizes 1KiB..256KiB --json --plot plot.svg
json "sorted({row['size_bytes'] for row in result['rows']}) == [1 << 10, 1 << 12, 1 << 14, 1 << 16, 1 << 18]"
python3 - <<'PY' || die "the plot is no SVG with a line for every algorithm"
import json
import xml.etree.ElementTree as tree
rows = json.load(open("out"))["rows"]
text = " ".join(element.text or "" for element in tree.parse("plot.svg").iter())
assert all(row["algorithm"] in text for row in rows) and "bound" in text
PY
exits 0 compare ring:4 all-gather --sizes 1KiB..256KiB
says "bus bandwidth in GB/s"

fails 2 "leave one of them out" compare ring:4 all-gather --size 1KiB --sizes 1KiB..1MiB
fails 3 "is no range of sizes" compare ring:4 all-gather --sizes 1KiB
fails 3 "is more than" compare ring:4 all-gather --sizes 1MiB..1KiB
fails 3 "unknown unit" compare ring:4 all-gather --sizes 1KiB..1Gib
fails 4 "cannot reach" compare ring:4 all-gather --fail link:0-1 --fail link:2-3
fails 3 "cannot be written" compare ring:4 all-gather --plot missing/plot.svg
fails 3 "past other NPUs, which do not forward" synth mesh:3x3 all-gather --engine direct
fails 3 "is for equal boxes" synth mesh:3x3 all-gather --engine hierarchical
fails 3 "does not make broadcast" synth mesh:3x3 broadcast --engine bruck
