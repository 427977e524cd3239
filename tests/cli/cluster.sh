#!/usr/bin/env bash
# topology cluster: copies of a box over a fabric.
source "$(dirname "$0")/lib.sh"
machines=$data/machines

# Three DGX A100 with eight GPUs and four NICs each on one switch.
exits 0 topology cluster a100:1 --boxes 3 --fabric switch --nics 4 --nic-bw 200Gbps -o cluster.json
exits 0 topology show cluster.json --json
json "result['npus'] == 24 and result['switches'] == 3 * 5 + 1"
json "result['node_names'][11] == 'box1/gpu3' and result['node_names'][-1] == 'fabric'"
json "len([l for l in result['links'] if l['dst'] == 39]) == 12"
json "all(l['bandwidth_Bps'] == 25 * 10**9 for l in result['links'] if l['dst'] == 39)"
exits 0 synth cluster.json all-gather --size 1MB --json
json "result['verified'] is True and result['npus'] == 24"
for fabric in rail ring leaf-spine:2x2; do
  exits 0 topology cluster "$machines/rccl_topo_4p2h.xml" --boxes 2 --fabric "$fabric" -o box.json
  exits 0 synth box.json all-gather --size 1MB --json
  json "result['verified'] is True and result['npus'] == 16"
done
# Nodes are called by where they are.
exits 0 topology cluster a100:1 --boxes 3 --fabric switch --nics 4 --nic-bw 200Gbps -o named.json
exits 0 topology show named.json
grep -q "box0/gpu0 to box2/gpu7" out || die "nobody says which NPUs there are"
exits 0 synth named.json broadcast --size 1MiB -o named.tacos
exits 0 simulate named.tacos
grep -qE "busiest links .*box[0-2]/" out || die "links are numbers"
# To standard output.
exits 0 topology cluster a100:1 --boxes 2 --fabric ring --nics 8 --nic-bw 50GBps -o -
json "result['npus'] == 16"

fails 3 "a100:1: has no NICs to join boxes by" topology cluster a100:1 --boxes 2 --fabric switch -o -
fails 3 "--nics: needs --nic-bw" topology cluster a100:1 --boxes 2 --fabric switch --nics 2 -o -
fails 3 "--nic-bw" topology cluster a100:1 --boxes 2 --fabric switch --nics 2 --nic-bw fast -o -
fails 3 "did you mean 'switch'?" topology cluster a100:1 --boxes 2 --fabric swich --nics 2 \
  --nic-bw 1GBps -o -
fails 3 "more leaves than the 2 boxes" topology cluster a100:1 --boxes 2 --fabric leaf-spine:4x2 \
  --nics 2 --nic-bw 1GBps -o -
fails 2 "--boxes" topology cluster a100:1 --boxes 0 --fabric switch -o -
fails 2 "--fabric is missing" topology cluster a100:1 --boxes 2 -o -
