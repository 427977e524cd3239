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
"$testbed" down
up=no
"$testbed" down 2>"$work/said" && { echo "down twice" >&2; exit 1; }
grep -q "is not up" "$work/said"
