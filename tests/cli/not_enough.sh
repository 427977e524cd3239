#!/usr/bin/env bash
# Too little memory or time is refused before the work starts; a file that cannot grow leaves nothing
# behind.
source "$(dirname "$0")/lib.sh"

# 250 MB are needed and 200 allowed. Sanitizers need more than that for themselves.
if (ulimit -v 200000 && "$tacos" --version) >/dev/null 2>&1; then
  (
    ulimit -v 200000
    fails 3 "mesh:100x100: needs 3" synth mesh:100x100 all-gather --chunks 1 --engine matching --threads 1
    grep -qF " free; use fewer chunks" err || die "does not say what is free"
    # Networks that do not fit are not even made.
    for network in fc:20000 hypercube:24 switch:20000,unwind=19999 dragonfly:500x2000 h100:1000000; do
      fails 3 " GiB, 1" synth "$network" all-gather
      fails 3 " MiB free; use a smaller network or more memory" bound "$network" all-gather
    done
    # A file takes more memory to read than the network that it holds.
    python3 -c "
link = '{\"src\": 0, \"dst\": 1, \"bandwidth_Bps\": 1}'
print('{\"npus\": 2, \"links\": [', ',\n'.join([link] * 600000), ']}')" >many_links.json
    fails 3 "many_links.json: needs 2" bound many_links.json all-gather
    # What no estimate foresees.
    fails 3 "needs more memory than there is" topology show mesh:650x650 --json
  )
fi
fails 3 "1,073,741,824 chunks are more than the 4,194,304 supported" \
  synth mesh:3x3 all-reduce --chunks 1073741824
fails 3 "engine matching would take about 28 hours" synth h100:1000 all-gather

(
  ulimit -f 100
  fails 3 "cannot be written" synth mesh:24x24 all-gather --engine matching -o large.tacos
  fails 3 "cannot be written" synth mesh:24x24 all-gather --engine matching --trace large.txt
)
[ "$(find . -name 'large*' | wc -l)" -eq 0 ] || die "left a file"
(
  ulimit -f 100
  fails 3 ".: File too large" synth mesh:24x24 all-gather --chunks 1 --engine matching --stream .
)
# What memory has no room for may go to disk.
exits 0 synth mesh:24x24 all-gather --chunks 1 --engine matching -o memory.tacos
exits 0 synth mesh:24x24 all-gather --chunks 1 --engine matching --stream . -o disk.tacos
cmp memory.tacos disk.tacos
fails 3 "nowhere: is no directory to write to" synth mesh:24x24 all-gather --engine matching --stream nowhere
