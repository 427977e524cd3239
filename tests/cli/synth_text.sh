#!/usr/bin/env bash
# synth prints the result first, then a small table.
source "$(dirname "$0")/lib.sh"

exits 0 synth mesh:4x4 all-gather --size 64MiB
head -n 1 out | grep -qE '^all-gather on mesh:4x4: [0-9.]+ us, [0-9.]+% of the bound( \(.*\))?, verified$' ||
  die "the first line is not the result"
says "16 NPUs, 48 links"
says "64 MiB"
