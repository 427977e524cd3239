#!/usr/bin/env bash
# A schedule file can be read in Python with the standard library alone, from its documentation.
here=$(cd "$(dirname "$0")" && pwd)
source "$(dirname "$0")/lib.sh"

exits 0 synth mesh:4x4,bw=50GBps/75GBps all-reduce --size 1MB -o a.tacos --trace ours.txt
python3 "$here/../../examples/read_schedule.py" a.tacos >theirs.txt
cut -d ' ' -f 1,3- ours.txt >expected.txt
cmp expected.txt theirs.txt || die "the Python reader sees other transfers than the trace"
