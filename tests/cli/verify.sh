#!/usr/bin/env bash
# verify accepts what synth wrote and refuses what was changed.
source "$(dirname "$0")/lib.sh"

for model in hold pipelined; do
  exits 0 synth torus:4x4 all-reduce --size 1MiB --link-model "$model" -o a.tacos
  exits 0 verify a.tacos
  says "valid: all-reduce of 1 MiB on torus:4x4"
  says "$model model"
done
exits 0 verify a.tacos --json
json "result['verified'] is True and result['violations'] == []"

head -c 500 a.tacos >short.tacos
fails 3 "cut short" verify short.tacos
python3 - <<'PY'
data = bytearray(open("a.tacos", "rb").read())
data[-300] ^= 1
open("flipped.tacos", "wb").write(data)
PY
fails 3 "not a whole tacos schedule file" verify flipped.tacos
echo hello >text
fails 3 "does not begin with TACOSCH" verify text
fails 3 "cannot be read" verify missing.tacos
fails 3 "not a regular file" verify .
