#!/usr/bin/env bash
# Schedules for runtimes and viewers: each is read back by something that does not know us.
here=$(cd "$(dirname "$0")" && pwd)
source "$(dirname "$0")/lib.sh"

# runs FORMAT IN-PLACE NETWORK COLLECTIVE [ARGS...]: an independent reader runs the XML.
runs() {
  local format=$1 in_place=$2 network=$3 collective=$4
  shift 4
  exits 0 synth "$network" "$collective" --size 1MiB -o a.tacos "$@"
  exits 0 export a.tacos --format "$format" --in-place "$in_place" -o a.xml
  python3 "$here/../export/run_msccl.py" a.xml "$format" >said 2>&1 ||
    die "$format, $collective on $network, in place $in_place: $(tail -n 1 said)"
}
for collective in all-reduce all-gather reduce-scatter broadcast reduce all-to-all; do
  runs msccl no a100:2 "$collective"
  runs rccl no mesh:3x3 "$collective"
done
for collective in all-reduce all-gather reduce-scatter broadcast reduce; do
  runs rccl yes dgx1 "$collective"
done
runs msccl-azure no mesh:3x3 gather
runs rccl yes mesh:3x3 scatter
runs msccl yes ring:8 all-reduce --form gathered
runs msccl no mesh:4x4 all-reduce --chunks 96
# What is received and sent on at once is one step.
runs rccl yes ring:8 all-gather
grep -q 'type="rcs"' a.xml || die "nothing is fused"
runs msccl-azure no ring:8 all-reduce
grep -q 'type="rrs"' a.xml || die "sums on their way are kept"

# plans IN-PLACE NETWORK COLLECTIVE [ARGS...]: another one runs the plan for MSCCL++.
plans() {
  local in_place=$1 network=$2 collective=$3
  shift 3
  exits 0 synth "$network" "$collective" --size 1MiB -o a.tacos "$@"
  exits 0 export a.tacos --format mscclpp --in-place "$in_place" -o a.json
  python3 "$here/../export/run_mscclpp.py" a.json >said 2>&1 ||
    die "mscclpp, $collective on $network, in place $in_place: $(tail -n 1 said)"
}
for collective in all-reduce all-gather reduce-scatter broadcast all-to-all; do
  plans no a100:2 "$collective"
  plans no mesh:3x3 "$collective" --chunks 1
done
for collective in all-reduce all-gather reduce-scatter broadcast; do
  plans yes ndv2:2 "$collective" --chunks 1
done
plans yes ring:4 all-reduce --form gathered
plans yes ring:8 all-reduce --chunks 32
plans no fc:2 all-gather --group 1
# With credits: signals without data.
exits 0 synth switch:6 all-to-all --size 1MiB --chunks 1 -o a.tacos
exits 0 export a.tacos --format mscclpp --credits -o a.json
python3 "$here/../export/run_mscclpp.py" a.json >said 2>&1 || die "mscclpp with credits: $(tail -n 1 said)"
exits 0 export a.tacos --format mscclpp -o b.json
[ "$(grep -o '"name":"wait"' a.json | wc -l)" -gt "$(grep -o '"name":"wait"' b.json | wc -l)" ] || die "no credits are awaited"
fails 3 "RCCL has no messages without data; leave --credits out" export a.tacos --format rccl --credits -o a.xml
# Boxes by the names of NPUs: what is between them goes through ports.
exits 0 topology cluster ring:2 --boxes 2 --fabric switch --nics 1 --nic-bw 200Gbps -o cluster.json
plans yes cluster.json all-reduce
grep -q '"channel_type":"port","connected_to"' a.json || die "boxes are not told apart"
# The reader sees it when something is missing.
python3 "$here/../export/run_mscclpp.py" a.json --damage >said 2>&1 || die "damage is not seen: $(tail -n 1 said)"
exits 0 synth mesh:3x3 gather -o a.tacos
fails 3 "mscclpp has no gather" export a.tacos --format mscclpp -o a.json
exits 0 synth mesh:3x3 broadcast --group 0,8 -o a.tacos
fails 3 "synth --no-relay" export a.tacos --format mscclpp -o a.json
exits 0 synth switch:64 all-to-all --chunks 1 --effort 1 -o big.tacos
fails 3 "mscclpp takes 16 semaphores of a GPU at most" export big.tacos --format mscclpp -o a.json
fails 3 "for --protocol Simple" export a.tacos --format mscclpp --protocol LL -o a.json

# What does not fit is refused, with the limit, the value and what would help.
exits 0 synth mesh:3x3 all-reduce --size 1MiB --link-model pipelined -o big.tacos
fails 3 "rccl takes 4096 elements" export big.tacos --format rccl -o big.xml
[ ! -e big.xml ] || die "something was written all the same"
read -r -a advice < <(grep -oE -e '--engine [a-z]+ --chunks [0-9]+ fits' err)
exits 0 synth mesh:3x3 all-reduce --size 1MiB --link-model pipelined -o big.tacos "${advice[@]:0:4}"
exits 0 export big.tacos --format rccl -o big.xml
python3 "$here/../export/run_msccl.py" big.xml rccl >said || die "the advice does not help"
exits 0 synth mesh:3x3 all-to-all -o a.tacos
fails 3 "cannot be done in place" export a.tacos --format msccl --in-place yes -o a.xml
exits 0 synth mesh:3x3 gather -o a.tacos
fails 3 "msccl has no gather" export a.tacos --format msccl -o a.xml
exits 0 synth mesh:3x3 broadcast --group 0,8 -o a.tacos
fails 3 "synth --no-relay" export a.tacos --format msccl -o a.xml
fails 2 "did you mean 'msccl'" export a.tacos --format mscl -o a.xml
fails 3 "no/such" export a.tacos --format csv -o no/such.csv
fails 3 "nothing.tacos" export nothing.tacos --format csv -o a.csv

# Pictures.
exits 0 synth a100:2 all-gather --size 1MiB -o a.tacos --trace a.trace
for format in csv graphml dot perfetto; do
  exits 0 export a.tacos --format "$format" -o "a.$format"
done
python3 - <<'PY' || die "a picture is not what it should be"
import csv, json, re
import xml.etree.ElementTree as ElementTree
trace = [line.split() for line in open("a.trace")]
rows = list(csv.DictReader(open("a.csv")))
names = "start_ps end_ps src dst chunk op".split()
assert [[row[name] for name in names] + [row["links"].replace(" ", ",")] for row in rows] == trace
space = "{http://graphml.graphdrawing.org/xmlns}"
graph = ElementTree.parse("a.graphml").getroot().find(space + "graph")
edges = graph.findall(space + "edge")
assert len(graph.findall(space + "node")) == len(set(re.findall(r"^  n(\d+) \[", open("a.dot").read(), re.M)))
used = {edge.get("id"): float(next(d.text for d in edge if d.get("key") == "utilization")) for edge in edges}
assert 0 < max(used.values()) <= 1 and len(re.findall("->", open("a.dot").read())) == len(edges)
events = json.load(open("a.perfetto"))["traceEvents"]
slices = [event for event in events if event["ph"] == "X"]
assert len(slices) == sum(len(set(links.split(","))) for links in
                          {(t[0], t[2], t[3], t[6]): t[6] for t in trace}.values())
for track in {event["tid"] for event in slices}:
    times = sorted((e["ts"], e["dur"]) for e in slices if e["tid"] == track)
    assert all(a[0] + a[1] <= b[0] + 1e-9 for a, b in zip(times, times[1:])), "a link carries two at once"
assert sum(e["ph"] == "b" for e in events) == sum(e["ph"] == "e" for e in events)
PY
exits 0 export a.tacos --format csv -o -
cmp out a.csv || die "standard output has other bytes"

# ASTRA-sim: a machine of its kind takes as long as was planned, to the picosecond, on direct links.
for problem in "mesh:3x3 all-reduce" "mesh:4x4,bw=50GBps/75GBps all-gather" "torus:4x4 all-to-all" \
  "ring:6 reduce-scatter --link-model pipelined" "mesh:3x3 broadcast:4 --group 0,4,8"; do
  # shellcheck disable=SC2086
  exits 0 synth $problem --size 1MiB -o a.tacos --json
  planned=$(python3 -c 'import json; print(round(json.load(open("out"))["collective_time_us"] * 1e6))')
  exits 0 export a.tacos --format chakra -o folder
  [ "$(python3 "$here/../export/run_chakra.py" folder)" = "$planned" ] || die "$problem: takes another time"
  [ -x folder/run.sh ] || die "the script cannot be run"
done
[ "$(echo folder*)" = folder ] || die "something was left beside the folder"
: >file
fails 3 "is a file, and this format writes a folder" export a.tacos --format chakra -o file
exits 0 synth mesh:3x3,lat=0.5us/1us broadcast --link-model pipelined -o a.tacos
fails 3 "one latency for all links" export a.tacos --format chakra -o folder
[ -e folder/run.sh ] || die "a folder that was complete is gone"
