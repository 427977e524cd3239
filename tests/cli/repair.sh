#!/usr/bin/env bash
# repair: a schedule for the network as it is now, verified, and what is not a repair.
source "$(dirname "$0")/lib.sh"

exits 0 synth mesh:4x4 all-gather --size 16MiB -o a.tacos
exits 0 repair a.tacos --fail link:0-1 --fail 'slow:5>6=0.5' -o b.tacos --json
json "result['verified'] is True and result['topology'] == 'mesh:4x4 --fail link:0-1 --fail slow:5>6=0.5'"
json "result['repair_seconds'] > 0 and result['kept_transfers'] + result['new_transfers'] == result['transfers']"
json "result['bound_us'] <= result['collective_time_us'] and result['before_us'] <= result['collective_time_us']"
json "all(key in result for key in ('chunks_per_npu', 'efficiency', 'schedule_hash', 'verify_seconds', 'busbw_GBps'))"
exits 0 verify b.tacos
exits 0 repair a.tacos --fail link:0-1
says "slower than before"
says "than the new bound"
grep -qE '^all-gather takes .* now' out || die "the result is not first"

# What failed works again, one after the other.
exits 0 repair b.tacos --restore link:0-1 -o c.tacos --json
json "result['topology'] == 'mesh:4x4 --fail slow:5>6=0.5' and result['links'] == 48"
exits 0 repair c.tacos --restore 'slow:5>6' --json
json "result['topology'] == 'mesh:4x4' and result['verified'] is True"
exits 0 repair c.tacos --restore 'slow:5>6' --fail link:2-3 --json
json "result['topology'] == 'mesh:4x4 --fail link:2-3'"

# NPUs leave, and come back.
for collective in all-reduce all-gather broadcast:3 all-to-all; do
  exits 0 synth mesh:3x3 $collective --size 9MiB -o a.tacos
  exits 0 repair a.tacos --fail npu:4 -o b.tacos --json
  json "result['participants'] == 8 and result['size_bytes'] == 9 << 20 and result['verified'] is True"
  exits 0 repair b.tacos --restore npu:4 --json
  json "result['participants'] == 9 and result['links'] == 24 and result['topology'] == 'mesh:3x3'"
done
# Of a group nobody joins who was not there.
exits 0 synth mesh:3x3 all-gather --size 9MiB --group 0-3 --fail npu:8 -o a.tacos
exits 0 repair a.tacos --restore npu:8 --json
json "result['participants'] == 4"

# The same bytes on any number of threads.
exits 0 synth torus:4x4 all-gather --size 16MiB -o a.tacos
exits 0 repair a.tacos --fail link:0-1 --threads 1 -o one.tacos
exits 0 repair a.tacos --fail link:0-1 --threads 3 -o three.tacos
cmp one.tacos three.tacos || die "threads change the bytes"

# Every collective, in both forms, and one from a file.
for collective in all-gather reduce-scatter all-reduce broadcast reduce gather scatter all-to-all; do
  for network in mesh:3x3 switch:8; do
    exits 0 synth $network $collective --size 9MiB -o a.tacos
    link=$([ $network = switch:8 ] && echo 0-8 || echo 0-1)
    exits 0 repair a.tacos --fail "slow:$link=0.25" --json
    json "result['verified'] is True"
  done
  exits 0 synth mesh:3x3 $collective --size 1KiB -o a.tacos
  exits 0 repair a.tacos --fail link:0-1 --json
  json "result['verified'] is True and result['collective'] == '$collective'"
done
cat >custom.json <<'JSON'
{"name": "pair", "chunks": [{"bytes": 1000, "sources": [0], "destinations": [2]}]}
JSON
exits 0 synth ring:4 custom.json -o a.tacos
exits 0 repair a.tacos --fail link:0-1 --json
json "result['verified'] is True"
fails 3 "npu:2: has failed, and pair needs it" repair a.tacos --fail npu:2

# What cannot be done.
exits 0 synth mesh:2x2 broadcast:1 --size 1MiB -o a.tacos
fails 3 "npu:1: the root of the broadcast has failed" repair a.tacos --fail npu:1
fails 4 "NPU 1 cannot reach NPU 0" repair a.tacos --fail link:0-1 --fail link:0-2
fails 3 "there is no link between node 0 and node 3" repair a.tacos --fail link:0-3
fails 3 "there is no link between node 0 and node 3" repair a.tacos --restore link:0-3
fails 3 "link 0-1 has not failed" repair a.tacos --restore link:0-1
fails 3 "NPU 3 has not failed" repair a.tacos --restore npu:3
fails 3 "link 0-1 is not slow" repair a.tacos --restore slow:0-1
fails 3 "unknown failure 'lnk'" repair a.tacos --restore lnk:0-1
fails 2 "say what has happened" repair a.tacos
fails 3 "nowhere.tacos" repair nowhere.tacos --fail link:0-1
exits 0 repair a.tacos --fail link:0-1 -o b.tacos
fails 3 "link 0-1 has failed already" repair b.tacos --fail link:0-1
exits 0 repair a.tacos --fail npu:2 -o b.tacos
fails 3 "NPU 2 has failed already" repair b.tacos --fail npu:2
fails 3 "NPU 2 has failed with its links; restore it" repair b.tacos --restore link:0-2
# Nothing says how fast the links of this file were.
exits 0 topology convert mesh:2x2 -o net.json
sed -i 's/"name": "[^"]*"/"name": "ours"/' net.json
exits 0 synth net.json all-gather --size 1MiB --fail slow:0-1=0.5 -o a.tacos
fails 3 "nothing says how fast link 0-1 was" repair a.tacos --restore slow:0-1

# While it runs: what has arrived counts, the rest is planned from there.
for collective in all-gather reduce-scatter all-reduce all-to-all; do
  exits 0 synth mesh:4x4 $collective --size 16MiB -o a.tacos
  exits 0 repair a.tacos --fail link:5-6 --at 50us -o b.tacos --json
  json "result['verified'] is True and result['at_us'] == 50 and result['begins_us'] <= 50"
  json "result['resumption'] in ('continued', 'replanned', 'restarted') and result['arrived_moves'] > 0"
  json "abs(result['end_us'] - result['begins_us'] - result['collective_time_us']) < 1e-6"
  exits 0 verify b.tacos
done
exits 0 repair a.tacos --fail link:5-6 --at 50us
says "all is finished at"
exits 0 synth mesh:4x4 all-reduce --size 16MiB -o a.tacos
exits 0 repair a.tacos --fail npu:5 --at 50us
says "shares of NPUs that are gone"
fails 3 "has ended by then" repair a.tacos --fail npu:5 --at 1s
fails 3 "--at soon" repair a.tacos --fail npu:5 --at soon
fails 2 "--at goes with --fail, not with --restore" repair a.tacos --restore npu:5 --at 5us
fails 2 "--at goes with --fail, not with --plans" repair a.tacos --fail npu:5 --plans x --at 5us
