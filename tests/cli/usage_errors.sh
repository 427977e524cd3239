#!/usr/bin/env bash
# Wrong usage: exit 2 and one line that says what was meant.
source "$(dirname "$0")/lib.sh"

exits 2
exits 2 synth
exits 2 synth mesh:4x4
fails 2 "did you mean 'synth'" sinth mesh:4x4 all-gather
fails 2 "--sise" synth mesh:4x4 all-gather --sise 1GB
fails 2 "--engine" synth mesh:4x4 all-gather --engine magic
fails 2 "--link-model" synth mesh:4x4 all-gather --link-model hodl
fails 2 "--chunks" synth mesh:4x4 all-gather --chunks 0
fails 2 "--chunks" synth mesh:4x4 all-gather --chunks x
fails 2 "--threads" synth mesh:4x4 all-gather --threads 0
fails 2 "--trials" synth mesh:4x4 all-gather --trials -3
for option in --seed --chunks --trials --threads; do
  for number in -1 +1 0x10 1e3 1.5 '1 2' x ''; do
    fails 2 "$option: '$number' is not a whole number" synth mesh:4x4 all-gather "$option" "$number"
  done
  fails 2 "$option: 99999999999999999999 is too large" synth mesh:4x4 all-gather "$option" 99999999999999999999
done
fails 2 "--chunks: '0' is not a whole number, 1 or more" synth mesh:4x4 all-gather --chunks 0
# Numbers are decimal.
exits 0 synth mesh:4x4 all-gather --chunks 010 --seed 012 --trials 03 --threads 02 --json
json "result['chunks_per_npu'] == 10 and result['seed'] == 12 and result['threads'] == 2"
exits 0 synth mesh:4x4 all-gather --seed 18446744073709551615 --json
json "result['seed'] == 2**64 - 1"
fails 2 "extra" synth mesh:4x4 all-gather extra
exits 2 topology
exits 2 topology convert mesh:2x2
exits 2 verify
exits 0 --help
says "synth"
exits 0 synth --help
says "--link-model"
exits 0 --version
says "tacos"
