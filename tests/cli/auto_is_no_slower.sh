#!/usr/bin/env bash
# `auto` takes the best of its engines, and `pipelined` is never slower than `hold`: networks on
# which that was not so.
source "$(dirname "$0")/lib.sh"

# The collective time in microseconds that the last run printed.
printed_time() { python3 -c "import json; print(json.load(open('out'))['collective_time_us'])"; }

# time_of ARGS...: the same of a synthesis.
time_of() {
  exits 0 synth "$@" --json
  printed_time
}

# no_slower A B: at most a hundredth, within which auto may stop at the bound.
no_slower() { python3 -c "import sys; sys.exit($1 > 1.01 * $2)" || die "$1 us is slower than $2 us"; }

no_slower_than_engines() {
  local auto engine
  auto=$(time_of "$@")
  for engine in trees matching multicast; do
    run synth "$@" --engine "$engine" --json
    if [ "$code" -eq 0 ]; then no_slower "$auto" "$(printed_time)"; fi
  done
}
no_slower_than_engines "$data/10-slow_port.json" all-reduce --size 100MB
no_slower_than_engines "$data/10-auto_misled.json" all-reduce --size 143558135 --group 0-12
no_slower_than_engines "$data/10-auto_slower_1.json" all-reduce --size 111863182 --seed 2 \
  --group 0-9 --chunks 3
no_slower_than_engines "$data/10-auto_slower_2.json" all-reduce --size 1MB --chunks 2
no_slower_than_engines h100:4 all-reduce --size 64MiB \
  --fail slow:4-32=0.5 --fail slow:5-36=0.5 --fail slow:10-33=0.1
no_slower_than_engines fat-tree:4,bw=25GBps,lat=0.5us all-reduce --size 42296977 \
  --link-model pipelined --seed 3 --group 0,1,2,5-8,10-15 --chunks 2
no_slower_than_engines "$data/soak-few_nodes_refined.json" broadcast --size 4022901 --link-model pipelined
# What few pieces promise is not what many reach.
gather=("$data/soak-trend_misled.json" gather:2 --size 52332908 --seed 3 --link-model pipelined)
no_slower "$(time_of "${gather[@]}")" "$(time_of "${gather[@]}" --engine direct)"

# What an engine expects of itself when it is told what to beat is not what it makes in the end.
scatter=('switch:2*switch:2,bw=50GBps/50GBps,lat=501ps/0ns' scatter:0 --size 20 --fail 'link:5>3' --fail npu:3 --chunks 5)
no_slower "$(time_of "${scatter[@]}")" "$(time_of "${scatter[@]}" --engine exchange)"
# One hop does not say what latency makes of the depth of trees: searches began far away, and gave up.
no_slower_than_engines 'fc:2*fc:4*switch:3,bw=25GBps/60GBps/50GBps,lat=700ns/0ns/700ns' all-reduce --size 43872 \
  --group 0,2,4,6,7,8,9,11,13,14,17,18,19,20,22,23 --no-relay --seed 2
no_slower_than_engines 'ring:4*switch:4*switch:4,bw=60GBps/25GBps/200GBps,lat=501ps/700ns/0ns' all-reduce \
  --size 1724 --fail link:68-28 --seed 5
# From one root under `hold`, where latencies count for little, trees are worth a try.
no_slower_than_engines 'switch:3*switch:3*switch:2,bw=50GBps/60GBps/60GBps,lat=0ns/0ns/501ps' reduce:17 --size 2781045 \
  --fail 'link:24>3' --no-relay --seed 5
no_slower_than_engines 'switch:8*fc:6,bw=100GBps,lat=700ns/500ns' broadcast:40 --size 220595446
# Of a few bytes, how many of them make a chunk larger than others decides.
no_slower_than_engines 'fc:4*switch:2*switch:4,bw=200GBps/25GBps/60GBps,lat=0ns/0ns/0ns' reduce:27 --size 33 --no-relay \
  --seed 4
# Behind the others, until it is tried under the other model.
no_slower_than_engines 'fc:5*ring:4*fc:2,bw=50GBps/25GBps/50GBps,lat=501ps/0ns/501ps' reduce --size 164 --no-relay \
  --chunks 3 --trials 3 --seed 3 --link-model pipelined

no_slower_than_hold() {
  no_slower "$(time_of "$@" --link-model pipelined)" "$(time_of "$@" --link-model hold)"
}
no_slower_than_hold "$data/10-pipelined_slower_1.json" all-reduce --size 544 --seed 2
no_slower_than_hold ring:5,bw=60GBps,lat=0ns reduce --size 21
no_slower_than_hold 'fc:4*switch:1*ring:4,lat=501ps/501ps/0ns' reduce-scatter --size 333797008 --chunks 1
no_slower_than_hold "$data/10-pipelined_slower_2.json" broadcast:7 --size 1695 --seed 3 --group 0-11
no_slower_than_hold 'switch:3*switch:2*fc:3,bw=25GBps/25GBps/60GBps,lat=501ps/501ps/0ns' all-to-all \
  --size 3144262 --seed 4
no_slower_than_hold 'switch:3*switch:4*fc:4,bw=50GBps/50GBps/25GBps,lat=0ns/700ns/501ps' all-reduce \
  --size 11 --chunks 4 --seed 3
no_slower_than_hold "$data/soak-pipelined_slower.json" all-reduce --size 1333552 --seed 2
no_slower_than_hold 'switch:5*ring:2*switch:4,bw=60GBps/200GBps/200GBps,lat=501ps/501ps/700ns' all-to-all \
  --size 34944283 --no-relay --chunks 3 --seed 5
no_slower_than_hold "$data/soak-one_chunk_suffices.json" all-reduce --size 29025 --trials 2
# With the chunks of the one model; the other finds 28.7 us with twice as many.
many='switch:5*fc:3*ring:4,bw=50GBps/60GBps/200GBps,lat=501ps/0ns/501ps'
no_slower_than_hold "$many" broadcast:32 --size 14160531 --seed 3 --engine matching --chunks 1024

# What was not tried is not said to take a time.
exits 0 synth mesh:4x4 all-reduce
says "matching left out"
# From one root through switches trees are not tried, and are no faster.
no_slower_than_engines h100:4 broadcast --size 64MiB
exits 0 synth h100:4 broadcast --size 64MiB
says "trees left out"

# With the most effort none gives up for what another has reached: each takes what it takes alone.
thorough=('fc:2*fc:4*switch:3' all-reduce --size 64KiB --effort 9)
for engine in matching trees; do
  alone=$(printf '%.3f' "$(time_of "${thorough[@]}" --engine "$engine")")
  exits 0 synth "${thorough[@]}"
  says "$engine reached $alone us"
done
