#!/usr/bin/env bash
# Times at the edge of 64 bits are refused with one sentence, by every command and for every
# collective; below it everything works.
data=$(cd "$(dirname "$0")/../data" && pwd)
source "$(dirname "$0")/lib.sh"

kinds='all-gather reduce-scatter all-reduce broadcast reduce gather scatter all-to-all'
for command in bound synth; do
  for kind in $kinds; do
    for file in ring_latency switch_latency; do
      fails 3 "53 days" "$command" "$data/$file.json" "$kind"
    done
    for network in mesh:23x23 switch:4 leaf-spine:2x2x2; do
      fails 3 "53 days" "$command" $network,bw=1Bps "$kind" --size 1000TB
    done
  done
  fails 3 "53 days" "$command" ring:4 "$data/custom_1e18.json"
  fails 3 "53 days" "$command" ring:6,lat=2305844s all-gather
  fails 3 "link 0>1 (50 B/s" "$command" mesh:3x3 all-gather --fail slow:0-1=0.000000001
  fails 3 "gap 2305844" "$command" mesh:3x3,gap=2305844s all-gather
done
# Each step is short enough, but there are too many of them.
fails 3 "53 days" synth ring:6,lat=80000s all-gather --chunks 100
fails 3 "53 days" synth switch:4,lat=80000s all-gather --chunks 100
fails 3 "53 days" synth mesh:2x3,lat=80000s all-reduce --chunks 100
fails 3 "53 days" synth mesh:2x3,lat=80000s all-to-all --chunks 100

# What is slow, or far away, but not that much.
for kind in $kinds; do
  exits 0 synth ring:4,lat=3600s "$kind"
  exits 0 synth switch:4,bw=1MBps,lat=10s "$kind" --size 10GB
  exits 0 synth mesh:3x3 "$kind" --size 100TB
  exits 0 synth mesh:3x3,lat=1s "$kind" --size 1TB --link-model pipelined --fail slow:0-1=0.001
done
