#!/usr/bin/env bash
# Too little memory is refused before the work starts; a file that cannot grow leaves nothing behind.
source "$(dirname "$0")/lib.sh"

# 250 MB are needed and 200 allowed. Sanitizers need more than that for themselves.
if (ulimit -v 200000 && "$tacos" --version) >/dev/null 2>&1; then
  (
    ulimit -v 200000
    fails 3 "mesh:100x100: needs 3" synth mesh:100x100 all-gather --chunks 1 --engine matching --threads 1
    grep -qF " free; use fewer chunks" err || die "does not say what is free"
  )
fi

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
