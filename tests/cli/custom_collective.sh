#!/usr/bin/env bash
# COLLECTIVE may be a file; what is wrong with it is said in one sentence.
source "$(dirname "$0")/lib.sh"

cat >shift.json <<'JSON'
{"name": "shift", "chunks": [
  {"bytes": 1000000, "sources": [0], "destinations": [5]},
  {"bytes": 3000000, "sources": [1, 2], "destinations": [6, 7]},
  {"bytes": 2000000, "sources": [0, 1, 2, 3], "destinations": [3], "op": "reduce"}]}
JSON
exits 0 bound mesh:4x2 shift.json --json
json "result['collective'] == 'custom' and result['collective_name'] == 'shift'"
json "result['size_bytes'] == 6000000 and result['participants'] == 7"
json "0 < result['bandwidth_bound_us'] <= result['bound_us']"
cp shift.json shift
exits 0 bound mesh:4x2 shift
says "shift of 6 MB on mesh:4x2"
for model in hold pipelined; do
  exits 0 synth mesh:4x2 shift.json --link-model "$model" --json -o a.tacos
  json "result['verified'] is True and result['engine'] == 'custom' and result['chunks'] == 3"
  json "result['bound_us'] <= result['collective_time_us']"
  exits 0 verify a.tacos
  says "valid: shift of 6 MB on mesh:4x2"
done

# Sizes from the command line where the file has none.
echo '{"chunks": [{"sources": [0], "destinations": [1]}, {"sources": [1], "destinations": [0]}]}' >swap.json
exits 0 bound ring:4 swap.json --size 8MB --json
json "result['size_bytes'] == 8000000 and result['collective_name'] == 'swap'"

wrong() {
  local text=$1
  echo "$2" >wrong.json
  fails 3 "$text" bound mesh:4x4 wrong.json
  fails 3 "$text" synth mesh:4x4 wrong.json
}
wrong "wrong.json: chunks[0]: has no source" '{"chunks": [{"destinations": [1]}]}'
wrong "chunks[0]: has no destination" '{"chunks": [{"sources": [1]}]}'
wrong "16 is not an NPU of the network; NPUs are 0 to 15" '{"chunks": [{"sources": [16], "destinations": [1]}]}'
wrong "has 0 bytes" '{"chunks": [{"sources": [0], "destinations": [1], "bytes": 0}]}'
wrong "did you mean 'sources'" '{"chunks": [{"surces": [0], "destinations": [1]}]}'
wrong "chunks[0]: 'bytes' is given twice" '{"chunks": [{"sources": [0], "destinations": [1], "bytes": 1, "bytes": 2}]}'
wrong "lists NPU 1 twice as a destination" '{"chunks": [{"sources": [0], "destinations": [1, 1]}]}'
wrong "wrong.json:1:13" '{"chunks": [}'
fails 3 "cannot be read" bound mesh:4x4 missing.json
fails 3 "leave out --size" bound mesh:4x2 shift.json --size 1MB
fails 3 "leave out --group" bound mesh:4x2 shift.json --group 0-3
fails 3 "leave out --chunks" synth mesh:4x2 shift.json --chunks 2
fails 3 "NPU 5 takes part but has failed" bound mesh:4x2 shift.json --fail npu:5
fails 4 "NPU 0 cannot reach NPU 3" bound mesh:4x2 shift.json --fail link:0-1 --fail link:0-4
