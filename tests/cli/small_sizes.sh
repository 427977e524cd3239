#!/usr/bin/env bash
# Sizes of a few bytes: done where they can be done, else one sentence says what is too small.
source "$(dirname "$0")/lib.sh"

exits 0 synth "$data/10-exit1_41_bytes.json" all-gather --size 41 --seed 2
for size in 1 2 13 14 15; do
  for network in mesh:2x7 torus:2x7 switch:14; do
    exits 0 synth "$network" all-reduce --size "$size"
    exits 0 synth "$network" all-reduce --size "$size" --chunks 1
    exits 0 synth "$network" broadcast --size "$size"
  done
done
fails 3 "a chunk for each of 14 participants, and 1 B is too small" \
  synth mesh:2x7 all-reduce --size 1 --chunks 1 --engine matching
fails 3 "a chunk for each of 14 participants, and 13 B is too small" \
  synth torus:2x7 all-reduce --size 13 --engine symmetric
fails 3 "13 B is too small to give each of 14 NPUs a part; use 14 B or more" \
  synth mesh:2x7 all-gather --size 13
exits 0 synth mesh:2x7 all-gather --size 14
