#!/usr/bin/env bash
# Real wires: a schedule on a network of namespaces. Called as: run.sh SOURCE-FOLDER TACOS TACOS-MPI
# Skips itself where namespaces cannot be made.
set -euo pipefail
source_folder=$1 tacos=$2 tacos_mpi=$3
work=$(mktemp -d)
testbed=$work/tree/tools/testbed
up=no
finish() {
  [ "$up" = no ] || "$testbed" down || true
  rm -rf "$work"
}
trap finish EXIT
# A tree of its own: the testbed keeps what is up beside its program.
mkdir -p "$work/tree/tools" "$work/tree/build/release/bin"
cp "$source_folder/tools/testbed" "$testbed"
ln -s "$tacos" "$work/tree/build/release/bin/tacos"

code=0
"$testbed" up mesh:2x2 --fail slow:0-1=0.5 2>"$work/said" || code=$?
if [ "$code" -ne 0 ]; then
  cat "$work/said" >&2
  grep -q needs "$work/said" && exit 77
  exit 1
fi
up=yes
wires=$work/tree/build/testbed/wires.json
for problem in "all-reduce hold" "all-gather pipelined" "all-to-all hold"; do
  read -r collective model <<<"$problem"
  "$tacos" synth "$wires" "$collective" --size 400KB --link-model "$model" --json -o "$work/a.tacos" >"$work/planned"
  "$testbed" run -- "$tacos_mpi" run "$work/a.tacos" --transport tcp --check --iterations 2 --json >"$work/measured"
  python3 - "$work/planned" "$work/measured" <<'PY'
import json, sys
planned, measured = (json.load(open(path)) for path in sys.argv[1:])
row = measured["rows"][0]
assert row["wrong"] == 0 and row["checked"], row
# Nobody is faster than the wires are.
assert row["time_us"] >= 0.97 * planned["bandwidth_bound_us"], (row["time_us"], planned["bandwidth_bound_us"])
PY
done
# The slow cable is found, and what its wires carry; with nothing known, all pairs are measured.
"$testbed" run -- "$tacos_mpi" probe mesh:2x2 --transport tcp -o "$work/measured.json" --json >"$work/found"
"$testbed" run -- "$tacos_mpi" probe --transport tcp -o "$work/proposed.json" >"$work/said"
grep -q "12 pairs measured" "$work/said"
"$tacos" topology show "$work/proposed.json" >/dev/null
python3 - "$wires" "$work/measured.json" "$work/found" <<'PY'
import json, sys
wires, measured, found = (json.load(open(path)) for path in sys.argv[1:])
slow = {(one["src"], one["dst"]) for one in found["slow"]}
assert {(0, 1), (1, 0)} <= slow, slow
for before, after in zip(wires["links"], measured["links"]):
    assert (before["src"], before["dst"]) == (after["src"], after["dst"])
    # A busy machine may make wires slower, and none makes them faster.
    assert after["bandwidth_Bps"] <= 1.15 * before["bandwidth_Bps"], (before, after)
    assert after["latency_ps"] > 0
PY
code=0
"$testbed" run -- "$tacos_mpi" probe ring:6 -o "$work/x.json" >/dev/null 2>"$work/said" || code=$?
[ "$code" -eq 3 ] && grep -q "has 6 NPUs, and there are 4 ranks" "$work/said"
"$testbed" down
up=no
"$testbed" down 2>"$work/said" && { echo "down twice" >&2; exit 1; }
grep -q "is not up" "$work/said"
