#!/usr/bin/env bash
# A file that is whole but whose schedule is wrong: exit 5, and it says what is wrong.
source "$(dirname "$0")/lib.sh"

exits 0 synth ring:4 all-gather --size 4KB -o good.tacos
# Moves all transfers to other chunks, with checksums made anew: well-formed, and wrong.
python3 - <<'PY'
import struct, zlib
data = open("good.tacos", "rb").read()
out, at = bytearray(data[:8]), 8
while at < len(data):
    tag, crc, length = data[at:at + 4], *struct.unpack_from("<IQ", data, at + 4)
    payload = data[at + 16:at + 16 + length]
    at += 16 + length
    if tag == b"TOPO":
        payload = payload.replace(b'"latency_ps": 500000', b'"latency_ps": 900000')
    out += tag + struct.pack("<IQ", zlib.crc32(payload), len(payload)) + payload
open("wrong.tacos", "wb").write(out)
PY
exits 5 verify wrong.tacos
grep -q "busy" err || die "does not say that a link is busy"
exits 5 verify wrong.tacos --json
json "result['verified'] is False and result['num_violations'] > 0"

# Nor is it shown.
fails 5 "not a correct all-gather" view wrong.tacos -o page.html
[ ! -e page.html ] || die "a wrong schedule has a page"
