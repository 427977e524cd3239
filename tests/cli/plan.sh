#!/usr/bin/env bash
# Plans: folders of schedules for all sizes, exported where asked.
here=$(cd "$(dirname "$0")" && pwd)
source "$(dirname "$0")/lib.sh"

exits 0 plan a100:1 -o plan --collectives all-reduce,all-gather,broadcast:3 --sizes 64KiB..16MiB --effort 1
cp out made
exits 0 plan show plan
cmp out made || die "show prints another table"
python3 - <<'PY' || die "the index is not what it should be"
import json, os
plan = json.load(open("plan/plan.json"))
assert plan["npus"] == 8 and plan["export_format"] == ""
for collective in "all-reduce", "all-gather", "broadcast":
    entries = [e for e in plan["entries"] if e["collective"] == collective]
    assert entries[0]["min_bytes"] == 65536 and entries[-1]["max_bytes"] == 16 << 20
    assert all(a["max_bytes"] + 1 == b["min_bytes"] for a, b in zip(entries, entries[1:]))
    assert [p["size_bytes"] for e in entries for p in e["points"]] == [65536 << i for i in range(9)]
    assert all(p["bound_ps"] <= p["time_ps"] for e in entries for p in e["points"])
assert {e["file"] for e in plan["entries"]} | {"plan.json"} == set(os.listdir("plan"))
assert next(e for e in plan["entries"] if e["collective"] == "broadcast")["root"] == 3
PY
for file in plan/*.tacos; do
  exits 0 verify "$file"
done

# For runtimes: an independent reader agrees, and the files follow each other without gap.
for format in msccl rccl; do
  exits 0 plan mesh:3x3 -o "for_$format" --collectives all-reduce,all-to-all,reduce --sizes 64KiB..64MiB --format "$format" --effort 1
  for file in "for_$format"/*.xml; do
    python3 "$here/../export/run_msccl.py" "$file" "$format" >said 2>&1 || die "$file: $(tail -n 1 said)"
  done
  python3 - "for_$format" <<'PY' || die "files do not follow each other"
import json, re, sys
plan = json.load(open(f"{sys.argv[1]}/plan.json"))
for entry in plan["entries"]:
    head = open(f"{sys.argv[1]}/{entry['exported']}").readline()
    least, most = (int(re.search(rf'{name}="(\d+)"', head)[1]) for name in ("minBytes", "maxBytes"))
    assert (least, most) == (entry["min_bytes"], entry["max_bytes"]), (least, most, entry)
    chunks = int(re.search(r'nchunksperloop="(\d+)"', head)[1])
    assert (9 << 20) % chunks == 0, "chunks that divide few buffers"
PY
done

# For MSCCL++ the same as tests/export/every_preset.py does for all presets, which takes long.
"$here/../export/every_preset.py" "$tacos" mscclpp a100:1 >said 2>&1 || die "mscclpp: $(tail -n 1 said)"

# What RCCL compares for a Gather is the part of a rank.
exits 0 plan ring:4 -o parts --collectives gather --sizes 64KiB..1MiB --format rccl --effort 1
grep -q 'minBytes="16384"' parts/gather-1.xml || die "begins at another size"
grep -q 'maxBytes="262144"' parts/*.xml || die "ends at another size"

# Groups, also where NPUs have failed.
exits 0 plan mesh:3x3 -o groups --collectives all-gather --sizes 1MiB..1MiB --group 0-2 --group 3,6 --effort 1
[ "$(echo groups/*.tacos)" = "groups/group1-all-gather-1.tacos groups/group2-all-gather-1.tacos" ] || die "other files"
exits 0 plan mesh:3x3 -o failed --collectives all-gather --sizes 1MiB..1MiB --fail npu:4 --effort 1
grep -q '"group": "0-3,5-8"' failed/plan.json || die "a dead NPU takes part"

# What cannot be is told, and nothing is left where a plan would be.
fails 2 "TOPOLOGY: is missing" plan
fails 2 "--sizes: is missing" plan ring:4 -o x --collectives all-reduce
fails 3 "no range of sizes" plan ring:4 -o x --collectives all-reduce --sizes 1MiB
fails 3 "is more than" plan ring:4 -o x --collectives all-reduce --sizes 1MiB..1KiB
fails 3 "did you mean 'all-reduce'" plan ring:4 -o x --collectives all-redcue --sizes 1KiB..1MiB
fails 3 "lists all-reduce twice" plan ring:4 -o x --collectives all-reduce,all-reduce --sizes 1KiB..1MiB
fails 3 "root 3 of broadcast is not in the group 0-2" plan ring:4 -o x --collectives broadcast:3 --group 0-2 --sizes 1KiB..1MiB
fails 3 "has failed" plan ring:4 -o x --collectives all-reduce --fail npu:1 --group 0-2 --sizes 1KiB..1MiB
fails 3 "msccl has no gather" plan ring:4 -o x --collectives gather --sizes 1KiB..1MiB --format msccl
fails 4 "nobody but the ranks relays" plan mesh:3x3 -o x --collectives broadcast --sizes 1KiB..1KiB --group 0,8 --format rccl
fails 3 "no/such" plan ring:4 -o no/such --collectives all-reduce --sizes 1KiB..1KiB
fails 3 "is no plan" plan show .
fails 3 "is no plan" plan ring:4 -o . --collectives all-reduce --sizes 1KiB..1KiB
echo '{' >plan/plan.json
fails 3 "plan.json:2" plan show plan
[ ! -e x ] || die "half a plan was left"

# Interrupted, it goes on where it stopped, and the result is the same.
arguments=(plan a100:2 --collectives "all-reduce,all-gather" --sizes 1KiB..16MiB --threads 1)
exits 0 "${arguments[@]}" -o whole
"$tacos" "${arguments[@]}" -o again >out 2>err &
worker=$!
for _ in $(seq 100); do
  [ "$(find again.partial -name '*.tacos' 2>/dev/null | wc -l)" -lt 3 ] || break
  sleep 0.1
done
kill -INT "$worker" || true
wait "$worker" || [ ! -e again ] || die "interrupted, and there all the same"
exits 0 "${arguments[@]}" -o again
diff -r whole again || die "another plan"
[ ! -e again.partial ] || die "something was left"
