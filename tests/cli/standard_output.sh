#!/usr/bin/env bash
# Data that does not arrive on standard output is a failure; '-' sends files there, and words to stderr.
source "$(dirname "$0")/lib.sh"

exits 0 synth ring:4 all-gather -o a.tacos --trace a.txt
commands=("synth ring:4 all-gather" "synth ring:4 all-gather --json" "synth ring:4 all-gather -o -"
  "synth ring:4 all-gather --trace -" "bound ring:4 all-gather" "bound ring:4 all-gather --json"
  "verify a.tacos" "verify a.tacos --json" "topology list" "topology show ring:4"
  "topology show torus:20x20 --json" "topology convert torus:20x20 -o -" "--help" "synth --help" "--version")
for command in "${commands[@]}"; do
  read -ra words <<<"$command"
  for sink in full closed; do
    code=0
    if [ "$sink" = closed ]; then
      "$tacos" "${words[@]}" >&- 2>err || code=$?
    elif [ -c /dev/full ]; then
      "$tacos" "${words[@]}" >/dev/full 2>err || code=$?
    else
      continue
    fi
    : >out
    [ "$code" -eq 1 ] || die "$command, $sink: exit code $code, not 1"
    grep -q "^tacos: standard output: cannot be written" err || die "$command, $sink: does not say so"
    [ "$(wc -l <err)" -eq 1 ] || die "$command, $sink: says more than one line"
  done
done

# A file never takes the place of a stream that was closed.
code=0
"$tacos" synth ring:4 all-gather -o b.tacos <&- >&- 2>&- || code=$?
[ "$code" -eq 1 ] || die "everything closed: exit code $code, not 1"
cmp a.tacos b.tacos || die "the report went into the file"
# Nothing to print, nothing to complain about; nobody to tell is no reason to crash.
"$tacos" topology convert ring:4 -o net.json >&- || die "needs standard output for nothing"
code=0
"$tacos" synth tours:4 all-gather 2>/dev/full || code=$?
[ "$code" -eq 3 ] || die "stderr full: exit code $code, not 3"

for name in - /dev/stdout /dev/fd/1; do
  "$tacos" synth ring:4 all-gather -o "$name" 2>err | cmp - a.tacos || die "$name: not the file, to a pipe"
  grep -q "^all-gather on ring:4: .* verified$" err || die "$name: the report is not on stderr"
  "$tacos" synth ring:4 all-gather -o "$name" >c.tacos 2>err
  cmp a.tacos c.tacos || die "$name: not the file, to a file"
  "$tacos" synth ring:4 all-gather --trace "$name" 2>err | cmp - a.txt || die "$name: not the trace"
done
exits 0 synth ring:4 all-gather -o - --trace b.txt
cmp out a.tacos || die "standard output is not the file when there is a trace"
cmp a.txt b.txt || die "the trace is another one when the file goes to standard output"
[ ! -e - ] || die "made a file named -"
exits 0 synth ring:4 all-gather -o ./-
cmp ./- a.tacos || die "a file named - cannot be written"

fails 2 "standard output: is where --json prints" synth ring:4 all-gather -o - --json
fails 2 "standard output: is where --json prints" synth ring:4 all-gather --trace /dev/stdout --json
fails 2 "standard output: is where both -o and --trace" synth ring:4 all-gather -o - --trace -
