#!/usr/bin/env bash
# Periodic schedules: one round in a small file, proved without expanding it, and read like any other.
here=$(cd "$(dirname "$0")" && pwd)
source "$(dirname "$0")/lib.sh"

# Some 9 million transfers of an All-Reduce on 1,600 NPUs.
exits 0 synth mesh:40x40 all-reduce -o a.tacos --json
json "result['engine'] == 'trees' and result['verified'] and result['transfers'] > 8 * 10**6"
grep -q PERD a.tacos || die "the schedule is not periodic"
[ "$(wc -c <a.tacos)" -lt 2000000 ] || die "the file is not small"
exits 0 verify a.tacos --json
json "result['verified'] and result['transfers'] > 8 * 10**6"
exits 0 synth mesh:40x40 all-reduce -o b.tacos --threads 1
cmp a.tacos b.tacos || die "another number of threads makes other bytes"

# A file of six rounds: every reader sees the same transfers.
exits 0 verify "$data/periodic.tacos"
says "120 transfers"
exits 0 simulate "$data/periodic.tacos" --json --trace ours.txt
json "result['simulated_time_us'] <= result['planned_time_us']"
exits 0 explain "$data/periodic.tacos"
says "takes"
python3 "$here/../../examples/read_schedule.py" "$data/periodic.tacos" >theirs.txt
python3 - <<'PY' || die "the Python reader sees other transfers than the machine makes"
def read(name, first):
    return [tuple(line.split()[first:]) for line in open(name)]
ours, theirs = read("ours.txt", 2), read("theirs.txt", 1)
assert len(theirs) == 120 and sorted(ours) == sorted(theirs)
starts = [int(line[0]) for line in read("theirs.txt", 0)]
assert starts == sorted(starts)
PY

# On unequal links chunks of several rounds share transfers, and every reader knows.
exits 0 synth mesh:8x8,bw=200GBps/25GBps all-reduce --engine trees --effort 1 -o shared.tacos --trace shared.txt --json
json "result['verified'] and result['transfers'] < 126 * result['chunks']"
grep -q PERD shared.tacos || die "the schedule is not periodic"
exits 0 verify shared.tacos
python3 "$here/../../examples/read_schedule.py" shared.tacos >theirs.txt
cut -d " " -f 1,3- shared.txt | cmp - theirs.txt || die "the Python reader sees other chunks than we trace"

# Damage is noticed: any byte of the section, and a section that is whole but says something else.
python3 - "$data/periodic.tacos" <<'PY'
import re, struct, sys, zlib
data = open(sys.argv[1], "rb").read()
at = data.index(b"PERD")
length = struct.unpack_from("<Q", data, at + 8)[0]
open("flipped.tacos", "wb").write(data[:at + 20] + bytes([data[at + 20] ^ 1]) + data[at + 21:])
payload = bytearray(data[at + 16:at + 16 + length])
payload[8] += 1  # the base of the first column: the period, the rounds and the stride
open("other.tacos", "wb").write(data[:at] + b"PERD" + struct.pack("<IQ", zlib.crc32(payload), length)
                                + payload + data[at + 16 + length:])
PY
fails 3 "a checksum does not match" verify flipped.tacos
fails 3 "its timetable makes no sense" verify other.tacos
