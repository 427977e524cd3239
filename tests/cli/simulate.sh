#!/usr/bin/env bash
# simulate: what a machine makes of a schedule, and what-ifs.
source "$(dirname "$0")/lib.sh"

exits 0 synth mesh:4x4 all-reduce --size 1MiB -o a.tacos
exits 0 simulate a.tacos
says "all-reduce on mesh:4x4"
says "critical path"
exits 0 simulate a.tacos --json --trace trace.txt
json "0 < result['simulated_time_us'] <= result['planned_time_us']"
json "0 < result['utilization'] <= 1 and len(result['link_utilization']) == 48"
json "abs(result['critical_path'][-1]['end_us'] - result['simulated_time_us']) < 1e-6"
json "abs(sum(result['critical_path_' + part + '_us'] for part in ('latency', 'serialization', 'waiting')) - result['simulated_time_us']) < 1e-6"
python3 - <<'PY' || die "the trace does not agree with the report"
import json
report = json.load(open("out"))
lines = [line.split() for line in open("trace.txt")]
assert len(lines) >= report["transfers"]
assert max(int(line[1]) for line in lines) == round(report["simulated_time_us"] * 1e6)
assert [int(line[0]) for line in lines] == sorted(int(line[0]) for line in lines)
PY

# What if: a slower link, a larger buffer, the other link model, a noisy machine.
python3 -c "import json; print(json.load(open('out'))['simulated_time_us'])" >before
later() {
  python3 - "$@" <<'PY' || die "$*"
import json, sys
before, now = float(open("before").read()), json.load(open("out"))["simulated_time_us"]
sys.exit(0 if eval(sys.argv[1]) else 1)
PY
}
exits 0 simulate a.tacos --slow 0-1=0.5 --json
later "before < now <= 2 * before"
exits 0 simulate a.tacos --slow '0>1=0.5' --slow '5>6=0.5' --json
later "before < now <= 2 * before"
exits 0 simulate a.tacos --size 4MiB --json
later "before < now <= 4 * before"
json "result['size_bytes'] == 4 << 20"
exits 0 simulate a.tacos --link-model pipelined --json
later "now < before"
exits 0 simulate a.tacos --jitter 2.5 --seed 7 --json
cp out first
later "now == before and before < json.load(open('out'))['jitter']['median_us'] <= json.load(open('out'))['jitter']['p95_us'] <= 1.025 * before"
exits 0 simulate a.tacos --jitter 2.5 --seed 7 --json
python3 -c "
import json
a, b = json.load(open('first')), json.load(open('out'))
assert a['jitter'] == b['jitter'] and a['jitter']['draws'] == 32" || die "jitter is not the same again"

# Of a network with failed links, whose ids stay.
exits 0 synth mesh:4x4 all-gather --size 1MiB --fail link:0-1 -o failed.tacos
exits 0 simulate failed.tacos
fails 3 "has failed already" simulate failed.tacos --slow 0-1=0.5
fails 3 "no link between node 0 and node 9" simulate a.tacos --slow 0-9=0.5
fails 3 "is not a share of the bandwidth" simulate a.tacos --slow 0-1=2
fails 3 "unknown unit" simulate a.tacos --size 1MiBB
fails 3 "cannot be cut" simulate a.tacos --size 1
fails 2 "percent" simulate a.tacos --jitter -1
fails 2 "percent" simulate a.tacos --jitter nan
fails 2 "percent" simulate a.tacos --jitter ''
fails 2 "link model" simulate a.tacos --link-model fast
head -c 500 a.tacos >short.tacos
fails 3 "cut short" simulate short.tacos
fails 3 "cannot be read" simulate missing.tacos
