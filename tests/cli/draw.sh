#!/usr/bin/env bash
# draw: networks and schedules as SVG; names stay text, and what is wrong is refused.
source "$(dirname "$0")/lib.sh"

# is_svg FILE [EXPRESSION]: it is well-formed, and a Python expression over its `words` holds.
is_svg() {
  python3 - "$1" "${2:-True}" <<'PY' || die "$1: not a picture with ${2:-a root}"
import sys
import xml.etree.ElementTree as tree

root = tree.parse(sys.argv[1]).getroot()
assert root.tag == "{http://www.w3.org/2000/svg}svg"
assert float(root.get("width")) < 1400 and float(root.get("height")) < 1400
assert not any(node.tag.endswith("script") for node in root.iter())
words = [node.text or "" for node in root.iter()]
sys.exit(0 if eval(sys.argv[2]) else 1)
PY
}

for network in mesh:4x4 torus:4x4x4 hypercube:5 h100:2 dragonfly:4x5 fat-tree:4 rfs dgx1 switch:8 "$data/machines/nvidia_smi_dgx1.txt"; do
  exits 0 draw "$network" -o net.svg
  [ ! -s out ] || die "prints data beside the file"
  is_svg net.svg "any('NPUs' in word for word in words)"
done
exits 0 draw mesh:3x3 --fail link:0-1 --fail npu:8 -o net.svg
is_svg net.svg "sum(word.endswith(', failed') for word in words) == 6"

# On standard output, the same bytes.
exits 0 draw mesh:3x3 -o -
cp out first.svg
exits 0 draw mesh:3x3 -o second.svg
cmp first.svg second.svg || die "not the same bytes"

exits 0 synth mesh:3x3 all-reduce --size 1MiB -o a.tacos
exits 0 draw a.tacos -o a.svg
is_svg a.svg "any('of the bound' in word for word in words) and any('all-reduce of 1 MiB on mesh:3x3' == word for word in words)"
is_svg a.svg "sum(word.endswith('% busy') for word in words) == 24"
exits 0 draw a.tacos --timeline -o a.svg
is_svg a.svg "any(word.startswith('bound ') for word in words) and 'reduce' in words and '0>1' in words"
exits 0 synth mesh:3x3 all-gather --size 1MiB --fail link:0-1 -o failed.tacos
exits 0 draw failed.tacos -o a.svg
is_svg a.svg "sum(word.endswith(', failed') for word in words) == 2"

# A pattern of more transfers than anybody can read.
exits 0 synth torus:64x64x16 all-gather --size 64MiB --chunks 1 --engine symmetric -o pattern.tacos
exits 0 draw pattern.tacos -o a.svg
is_svg a.svg "any('65,536 NPUs' in word for word in words)"
exits 0 draw pattern.tacos --timeline -o a.svg
is_svg a.svg

# Names are text.
cat >named.json <<'JSON'
{"name": "<script>alert(1)</script>", "npus": 2, "node_names": ["<b>&amp;", "</svg>"],
 "links": [{"src": 0, "dst": 1, "bandwidth_Bps": 1000, "latency_ps": 1},
           {"src": 1, "dst": 0, "bandwidth_Bps": 1000, "latency_ps": 1}]}
JSON
exits 0 synth named.json all-gather --size 1KB -o named.tacos
for what in named.json named.tacos; do
  exits 0 draw "$what" -o named.svg
  is_svg named.svg "any('<script>alert(1)</script>' in word for word in words) and '<b>&amp;' in words"
done
exits 0 draw named.tacos --timeline -o named.svg
is_svg named.svg "any('</svg>' in word for word in words)"

# Bad input. What is there already stays.
cp a.svg kept.svg
fails 3 "unknown topology kind" draw mush:3x3 -o kept.svg
fails 3 "cannot be read" draw missing.tacos -o kept.svg
head -c 300 a.tacos >short.tacos
fails 3 "cut short" draw short.tacos -o kept.svg
fails 3 "cannot be written" draw mesh:3x3 -o no/such/folder/a.svg
fails 2 "--timeline" draw mesh:3x3 --timeline -o kept.svg
fails 2 "--fail" draw a.tacos --fail link:0-1 -o kept.svg
fails 2 "-o" draw mesh:3x3
python3 - <<'PY'
import struct, zlib
data = open("a.tacos", "rb").read()
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
exits 5 draw wrong.tacos -o kept.svg
cmp a.svg kept.svg || die "replaced a picture although there is no new one"
[ "$(find . -name '*.partial*' | wc -l)" -eq 0 ] || die "left a temporary file"
