#!/usr/bin/env bash
# synth --json prints the keys of the contract, consistent with each other.
source "$(dirname "$0")/lib.sh"

exits 0 synth mesh:4x4 all-gather --size 64MiB --chunks 2 --seed 7 --threads 2 --json
for key in topology npus links collective size_bytes chunks_per_npu engine seed threads link_model \
  collective_time_us algbw_GBps busbw_GBps bound_us bound_name bandwidth_bound_us bound_exact \
  efficiency chunks transfers synthesis_seconds bound_seconds verify_seconds hash_seconds peak_rss_bytes \
  verified schedule_hash; do
  json "'$key' in result"
done
json "result['topology'] == 'mesh:4x4' and result['npus'] == 16 and result['links'] == 48"
json "result['size_bytes'] == 64 * 2**20 and result['chunks_per_npu'] == 2 and result['chunks'] == 32"
json "result['seed'] == 7 and result['threads'] == 2 and result['link_model'] == 'hold'"
json "result['transfers'] == 15 * 32 and result['verified'] is True"
json "abs(result['algbw_GBps'] - result['size_bytes'] / result['collective_time_us'] / 1e3) < 1e-9"
json "abs(result['busbw_GBps'] - result['algbw_GBps'] * 15 / 16) < 1e-9"
json "0 < result['bandwidth_bound_us'] <= result['bound_us'] <= result['collective_time_us']"
json "abs(result['efficiency'] - result['bound_us'] / result['collective_time_us']) < 1e-9"
[ ! -s err ] || die "words on stderr although all is well and stderr is a pipe"

exits 0 synth mesh:4x4 all-reduce --size 64MiB --chunks 32 --json
json "result['chunks'] == 32 and result['collective'] == 'all-reduce'"
json "abs(result['busbw_GBps'] - result['algbw_GBps'] * 2 * 15 / 16) < 1e-9"
