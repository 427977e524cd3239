#!/usr/bin/env bash
# The example of tacos/mpi.h does what MPI does, and says what is wrong where it cannot.
# Called as: mpi_example.sh PATH-TO-TACOS PATH-TO-EXAMPLE
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
launch=(mpirun --allow-run-as-root --oversubscribe --quiet -np)
"$1" synth ring:4 all-reduce --size 1MiB -o "$work/ring.tacos" >/dev/null
# Through a file: grep would end at the first line, and the writer with it.
"${launch[@]}" 4 "$2" "$work/ring.tacos" >"$work/out"
grep -qx "the same as MPI" "$work/out"
code=0
"${launch[@]}" 3 "$2" "$work/ring.tacos" 2>"$work/err" || code=$?
[ "$code" -eq 3 ]
[ "$(grep -c 'ring.tacos: is for 4 ranks, not for 3' "$work/err")" -eq 1 ]
