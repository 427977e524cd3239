#!/usr/bin/env bash
# explain: what limits a schedule, what the gap is made of, what would help.
source "$(dirname "$0")/lib.sh"

# What the parts of the gap add up to, beside the time.
adds_up() {
  json "abs(result['bandwidth_bound_us'] + sum(result['gap'].values()) - result['collective_time_us']) < 1e-5 * result['collective_time_us']"
}
exits 0 synth mesh:4x4 all-reduce --size 64MiB -o a.tacos
exits 0 explain a.tacos
says "all-reduce of 64 MiB on mesh:4x4 takes"
says "(partition)"
says "all links twice as fast: the bound becomes"
exits 0 explain a.tacos --json
adds_up
json "result['limiting_links'] == 48 and result['unused_limiting_links'] == 0"
json "abs(result['faster_links'][0]['bound_us'] / result['bound_us'] - 0.5) < 0.01"

for task in "switch:4 all-reduce" "ring:5 all-to-all" "mesh:3x3 broadcast" "fc:4 reduce-scatter" "switch:5 gather:2"; do
  for model in hold pipelined; do
    # shellcheck disable=SC2086
    exits 0 synth $task --size 256MiB --link-model "$model" -o b.tacos
    exits 0 explain b.tacos --json
    adds_up
    json "all(value > -1e-3 for value in result['gap'].values())"
    json "'$model' == 'hold' or result['gap']['latency_us'] == 0"
  done
done

# Too few chunks: left to tacos it is faster. Too small a size: a larger one comes near the bound.
exits 0 synth mesh:4x4 all-reduce --size 64MiB --chunks 4 --engine trees -o few.tacos
exits 0 explain few.tacos
says "its size, chunks and engine left to tacos"
exits 0 synth mesh:4x4 all-gather --size 16KiB -o small.tacos
exits 0 explain small.tacos --json
json "result['other_problems'][-1]['efficiency'] >= 0.95"

# Whole chunks allow less than the bound, and that is said.
exits 0 synth mesh:20x20 all-gather --chunks 1
says "(100.0% of what chunks of"
exits 0 synth mesh:20x20 all-gather --chunks 1 --json
json "result['bound_us'] < result['chunk_bound_us'] <= result['collective_time_us'] * 1.0001"

head -c 500 a.tacos >short.tacos
fails 3 "cut short" explain short.tacos
fails 3 "cannot be read" explain missing.tacos
