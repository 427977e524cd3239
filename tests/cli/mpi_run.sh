#!/usr/bin/env bash
# Schedules run on real ranks and end with what the MPI library makes; what cannot be run is said
# once, with one exit code, and nobody is left waiting.
# Called as: mpi_run.sh PATH-TO-TACOS [PATH-TO-TACOS-MPI]; skipped without the second.
source "$(dirname "$0")/lib.sh"
[ -n "$tacos_mpi" ] || exit 77

# right RANKS ARGS...: exits with 0 and every row was checked and is right.
right() {
  by "$@" --iterations 2 --check --json
  [ "$code" -eq 0 ] || die "'$*' exited $code"
  json 'result["rows"] and all(row["checked"] and row["wrong"] == 0 for row in result["rows"])'
}

# refused CODE TEXT RANKS ARGS...: exits with CODE and says TEXT once.
refused() {
  local expected=$1 text=$2
  shift 2
  by "$@"
  [ "$code" -eq "$expected" ] || die "'$*' exited $code, not $expected"
  [ "$(grep -cF -- "$text" err)" -eq 1 ] || die "'$*' does not say '$text' once"
  [ ! -s out ] || die "'$*' prints data although it failed"
}

# Every collective, at sizes with less than an element for every chunk too.
for collective in all-gather reduce-scatter all-reduce broadcast:2 reduce:1 gather:3 scatter all-to-all; do
  exits 0 synth mesh:2x2 "$collective" --size 64KiB -o four.tacos
  right 4 run four.tacos --sizes 16..64KiB
done
json 'len(result["rows"]) == 7'
json 'all(row["ranks"] == 4 and row["collective"] == "all-to-all" and row["type"] == "float32" for row in result["rows"])'
json 'all(row["time_us"] > 0 and row["library_time_us"] > 0 and row["planned_time_us"] > 0 for row in result["rows"])'
json 'all(abs(row["ratio"] * row["time_us"] / row["library_time_us"] - 1) < 1e-9 for row in result["rows"])'

# Types and operations.
exits 0 synth ring:3 all-reduce --size 4KiB -o three.tacos
for type in float16 bfloat16 int8 complex128; do right 3 run three.tacos --type $type; done
for op in min max prod avg; do right 3 run three.tacos --op $op; done
right 3 run three.tacos --type bfloat16 --op avg
exits 0 synth ring:3 all-reduce --size 1KiB --form gathered -o gathered.tacos
right 3 run gathered.tacos

# What is periodic is loaded as a loop.
exits 0 synth mesh:4 reduce:1 --engine trees --effort 1 --size 4MiB -o rounds.tacos
grep -q PERD rounds.tacos || die "is not periodic"
right 4 run rounds.tacos --sizes 4KiB..64KiB

# However messages travel.
for transport in mpi shm tcp; do
  right 3 run three.tacos --transport $transport --sizes 16..1MiB
  json "all(row['transport'] == '$transport' for row in result['rows'])"
done

# Ranks that only pass on, and ranks in another order than NPUs.
exits 0 synth mesh:3x2 all-gather --group 0,2,5 --size 6KiB -o group.tacos
right 6 run group.tacos
printf '5 4 3\n2 1 0\n' >map
right 6 run group.tacos --map map
right 6 run group.tacos --map hosts
exits 0 synth ring:6 all-gather --size 6KiB -o six.tacos
right 6 run six.tacos --map map

# A table for people.
by 3 run three.tacos --check --iterations 2
[ "$code" -eq 0 ] || die "exited $code"
says "all-reduce on ring:3 by 3 ranks, float32 sum over auto, the least of 2 iterations"
[ "$(wc -l <out)" -eq 4 ] || die "not a table of one row"

# What cannot be run.
refused 3 "three.tacos: is for 3 ranks, not for 2" 2 run three.tacos
refused 3 "complex64 has no min" 3 run three.tacos --type complex64 --op min
refused 2 "did you mean 'float32'" 3 run three.tacos --type flot32
refused 3 "no.tacos" 2 run no.tacos
refused 3 "is no plan" 2 run .
# A plan: every schedule for the sizes that it is for.
exits 0 plan ring:3 -o folder --collectives "all-reduce,all-gather" --sizes 1KiB..1MiB --effort 1
refused 3 "is a plan for 3 NPUs, and there are 2 ranks" 2 run folder
refused 3 "no size of --sizes is among them" 3 run folder --sizes 2MiB..4MiB
mpirun --allow-run-as-root --oversubscribe --quiet -np 3 "$tacos_mpi" run folder --check --iterations 2 --json >out 2>err ||
  die "a plan does not run"
python3 - <<'PY' || die "a plan runs other things"
import json
rows = json.load(open("out"))["rows"]
for name in "all-reduce", "all-gather":
    mine = [row for row in rows if row["collective"] == name]
    assert [row["size_bytes"] for row in mine] == [1024 << i for i in range(11)], mine
    assert all(row["wrong"] == 0 and row["checked"] for row in mine)
PY
echo "0 1 1" >twice
refused 3 "NPU 1 is given twice" 3 run three.tacos --map twice
echo "0 1" >few
refused 3 "few: has 2 NPUs for 3 ranks" 3 run three.tacos --map few
head -c 200 three.tacos >cut.tacos
refused 3 "cut.tacos" 3 run cut.tacos

# A rank that dies takes all with it, at once.
mpirun --allow-run-as-root --oversubscribe --quiet -np 3 "$tacos_mpi" run three.tacos \
  --iterations 1000000 >out 2>err &
job=$!
for _ in $(seq 100); do
  rank=$(pgrep -P "$job" -f three.tacos | head -n 1) && break
  sleep 0.1
done
sleep 0.5
kill -KILL "$rank"
for _ in $(seq 100); do
  kill -0 "$job" 2>/dev/null || break
  sleep 0.1
done
kill -0 "$job" 2>/dev/null && die "still running 10 s after a rank was killed"
code=0
wait "$job" || code=$?
[ "$code" -ne 0 ] || die "exited 0 although a rank was killed"
exit 0
