#!/usr/bin/env bash
# No schedule exists: exit 4, naming the pair, nothing written.
source "$(dirname "$0")/lib.sh"

cat >cut.json <<'JSON'
{"npus": 4, "links": [
  {"src": 0, "dst": 1, "bandwidth_Bps": 1000000000},
  {"src": 1, "dst": 0, "bandwidth_Bps": 1000000000},
  {"src": 2, "dst": 3, "bandwidth_Bps": 1000000000},
  {"src": 3, "dst": 2, "bandwidth_Bps": 1000000000}]}
JSON
fails 4 "NPU 0 cannot reach NPU 2" synth cut.json all-gather -o a.tacos --trace a.txt
if [ -e a.tacos ] || [ -e a.txt ]; then die "wrote a file although there is no schedule"; fi
echo '{"npus": 2, "links": []}' >none.json
fails 4 "NPU 0 cannot reach NPU 1" synth none.json all-reduce
echo '{"npus": 1, "links": []}' >one.json
exits 0 synth one.json all-reduce --json
json "result['transfers'] == 0 and result['collective_time_us'] == 0 and result['verified'] is True"
