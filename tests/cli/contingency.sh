#!/usr/bin/env bash
# contingency: the answers to every single failure, found and used by repair --plans.
source "$(dirname "$0")/lib.sh"

exits 0 contingency mesh:3x3 all-reduce --tolerate 1 --size 9MiB -o plans --json
json "len(result['rows']) == 12 + 9 and result['worst']['slowdown'] > 1"
json "all(row['collective_time_us'] >= row['bound_us'] for row in result['rows'])"
json "len({row['like'] for row in result['rows']}) == 5"
json "max(row['collective_time_us'] for row in result['rows']) == result['worst']['collective_time_us']"
[ "$(find plans -name '*.tacos' | wc -l)" -eq 6 ] || die "not one file for each kind of failure"
[ ! -e plans.partial ] || die "the workshop is left"

# Every failure has an answer that verifies and takes what the plan says.
exits 0 synth mesh:3x3 all-reduce --size 9MiB -o a.tacos
cp out whole
for failure in link:0-1 link:1-0 link:5-8 npu:4 npu:8; do
  exits 0 repair a.tacos --fail $failure --plans plans --json
  json "result['verified'] is True"
  cp out answer
  python3 - "$failure" plans/contingency.json answer <<'PY' || die "not what the plan says"
import json, sys
rows = {row["fail"]: row for row in json.load(open(sys.argv[2]))["rows"]}
kind, what = sys.argv[1].split(":")
row = rows.get(sys.argv[1]) or rows["link:" + "-".join(reversed(what.split("-")))]
assert abs(row["time_ps"] / 1e6 - json.load(open(sys.argv[3]))["collective_time_us"]) < 1e-6
PY
done
# Others are repaired as ever.
exits 0 repair a.tacos --fail link:0-1 --fail link:7-8 --plans plans --json
json "result['verified'] is True"
exits 0 repair a.tacos --fail 'link:0>1' --plans plans --json
json "result['verified'] is True"

# The same bytes again, on any number of threads, in place of the plan that was.
cp -r plans before
exits 0 contingency mesh:3x3 all-reduce --tolerate 1 --size 9MiB -o plans --threads 3
says "after link:0-1"
diff -r plans before || die "threads change the bytes"
# What a crash has left is used where it was made for the same, and never believed.
mkdir plans.partial
exits 0 contingency mesh:3x3 all-reduce --tolerate 1 --size 9MiB -o plans
mkdir -p half.partial
printf 'no question of ours' >half.partial/request.json
printf 'rubbish' >half.partial/link-0-1.tacos
exits 0 contingency mesh:3x3 all-reduce --tolerate 1 --size 9MiB -o half
diff -r half before || die "rubbish was believed"

# What no schedule can help is said.
exits 0 contingency mesh:3 broadcast:1 --tolerate 1 --size 1MiB -o line --json
json "[row['fail'] for row in result['rows'] if row['collective_time_us'] is None] == ['link:0-1', 'link:1-2', 'npu:1']"

# Another network, collective, size.
exits 0 synth mesh:3x4 all-reduce --size 9MiB -o b.tacos
fails 3 "is for another network, mesh:3x3" repair b.tacos --fail link:0-1 --plans plans
exits 0 synth mesh:3x3 all-gather --size 9MiB -o b.tacos
fails 3 "is for another collective" repair b.tacos --fail link:0-1 --plans plans
exits 0 synth mesh:3x3 all-reduce --size 8MiB -o b.tacos
fails 3 "is for another collective" repair b.tacos --fail link:0-1 --plans plans
fails 3 "is no contingency plan" repair b.tacos --fail link:0-1 --plans nowhere
rm plans/npu-0.tacos
fails 3 "npu-0.tacos is missing; make the contingency plan again" repair a.tacos --fail npu:0 --plans plans
mkdir full && touch full/precious
fails 3 "has files in it and is no contingency plan" contingency mesh:3x3 all-reduce --tolerate 1 -o full
fails 2 "--tolerate" contingency mesh:3x3 all-reduce -o more
fails 2 "--tolerate" contingency mesh:3x3 all-reduce --tolerate 2 -o more
fails 4 "cannot reach" contingency mesh:3x3 all-reduce --fail link:0-1 --fail link:0-3 --tolerate 1 -o more
