#!/usr/bin/env bash
# Files are written whole or not at all, and what cannot be written is refused.
source "$(dirname "$0")/lib.sh"

exits 0 synth ring:4 all-gather -o a.tacos --trace a.txt
[ "$(find . -name '*.partial*' | wc -l)" -eq 0 ] || die "left a temporary file"
fails 3 "cannot be written" synth ring:4 all-gather -o no/such/folder/a.tacos
fails 3 "is a folder" synth ring:4 all-gather -o .
exits 0 synth ring:4 all-gather -o /dev/null
[ -c /dev/null ] || die "replaced a device by a file"
# A full disk: the error is reported, and no file is left.
if [ -c /dev/full ]; then
  fails 3 "cannot be written" synth ring:4 all-gather -o /dev/full
fi
