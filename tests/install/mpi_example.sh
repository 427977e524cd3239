#!/usr/bin/env bash
# The example of tacos/mpi.h does what MPI does, and says what is wrong where it cannot.
# Called as: mpi_example.sh PATH-TO-TACOS PATH-TO-EXAMPLE
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
launch=(mpirun --allow-run-as-root --oversubscribe --quiet -np)
"$1" synth ring:4 all-reduce --size 1MiB -o "$work/ring.tacos" >/dev/null
"${launch[@]}" 4 "$2" "$work/ring.tacos" | grep -qx "the same as MPI"
code=0
"${launch[@]}" 3 "$2" "$work/ring.tacos" 2>"$work/err" || code=$?
[ "$code" -eq 3 ]
[ "$(grep -c 'ring.tacos: is for 4 ranks, not for 3' "$work/err")" -eq 1 ]
