#!/usr/bin/env bash
# However many processes share the work, the file is that of one; errors are said once.
# Called as: mpi_same_bytes.sh PATH-TO-TACOS [PATH-TO-TACOS-MPI]; skipped without the second.
source "$(dirname "$0")/lib.sh"
[ -n "$tacos_mpi" ] || exit 77

# same PROCESSES ARGS...: each number of processes writes the file that tacos writes.
same() {
  local numbers=$1
  shift
  exits 0 synth "$@" --threads 1 -o one.tacos
  for processes in $numbers; do
    rm -f several.tacos
    by "$processes" synth "$@" --threads 1 -o several.tacos
    [ "$code" -eq 0 ] || die "$processes processes: '$*' exited $code"
    cmp one.tacos several.tacos || die "$processes processes: '$*' gives another file"
    [ "$(grep -c verified out)" -eq 1 ] || die "$processes processes: '$*' does not report once"
  done
}

same "2 3" mesh:5x5 all-gather --engine matching --trials 7 # trials
same "2 3" mesh:4x4 all-reduce # engines
same "2 3" dgx1 all-gather --size 64KiB # chunk counts
same "2 3" mesh:5x5 all-to-all --size 1MiB --trials 2
same "1 2 3" mesh:24x24 all-gather # NPUs
same "1 2 3" mesh:24x24 reduce-scatter

for processes in 1 3; do
  by "$processes" synth tours:4x4 all-gather
  [ "$code" -eq 3 ] || die "bad input: exit code $code, not 3"
  [ "$(grep -c "did you mean 'torus'" err)" -eq 1 ] || die "bad input is not said once"
  [ ! -s out ] || die "prints data although it failed"
done
# Only one process writes, and it may write to standard output.
by 2 synth mesh:4x4 all-gather -o no/such.tacos
[ "$code" -eq 3 ] || die "cannot be written: exit code $code, not 3"
[ "$(grep -c "no/such.tacos: cannot be written" err)" -eq 1 ] || die "what cannot be written is not said once"
exits 0 synth mesh:4x4 all-gather -o one.tacos
by 2 synth mesh:4x4 all-gather -o -
cmp one.tacos out || die "standard output has another file"
by 2 verify one.tacos
[ "$code" -eq 2 ] || die "wrong usage: exit code $code, not 2"
by 2 synth mesh:24x24 all-gather --json
json 'result["processes"] == 2 and len(result["synthesis_peak_rss_bytes"]) == 2'
