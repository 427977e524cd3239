#!/usr/bin/env bash
# view: one page, complete or not at all; what is on it is looked at in tests/browser.
source "$(dirname "$0")/lib.sh"

exits 0 synth mesh:3x3 all-reduce --size 1MiB -o a.tacos
exits 0 view a.tacos -o page.html
[ ! -s out ] || die "view prints data"
grep -qF "open it in a browser" err || die "view does not say what it wrote"
grep -qF "<title>all-reduce of 1 MiB on mesh:3x3</title>" page.html || die "the page has no title"
! grep -qE "(src|href)=|https?://|@(DATA|TITLE|STYLE|SCRIPT)@" page.html || die "the page needs something from elsewhere"
! grep -qE "^(import|export) " page.html || die "the page has modules"

# The same bytes, to standard output as well.
"$tacos" view a.tacos -o - >again.html 2>/dev/null
cmp page.html again.html || die "two pages of one schedule differ"

# Two, of different networks too.
exits 0 synth ring:4 all-gather --size 1MiB -o b.tacos
exits 0 view a.tacos b.tacos -o both.html
grep -qF "on mesh:3x3 | all-gather of 1 MiB on ring:4</title>" both.html || die "the page does not name both"

# Every collective, both link models, failures and switches.
for task in "h100:2 all-to-all" "switch:4 broadcast:2" "mesh:3x3 gather --fail link:0-1" "ring:5 reduce-scatter --link-model pipelined" \
  "dragonfly:2x3 scatter --group 0-3" "hypercube:3 reduce"; do
  # shellcheck disable=SC2086
  exits 0 synth $task --size 1MiB -o c.tacos
  exits 0 view c.tacos -o c.html
done

# What is wrong leaves the page as it is.
python3 - <<'PY'
data = bytearray(open("a.tacos", "rb").read())
open("short.tacos", "wb").write(data[:len(data) // 2])
PY
fails 3 "cut short" view short.tacos -o page.html
fails 3 "cannot be read" view missing.tacos -o page.html
fails 2 "-o" view a.tacos
fails 2 "missing" view -o page.html
fails 3 "nowhere" view a.tacos -o nowhere/page.html
cmp page.html again.html || die "a page was replaced although there is no new one"
[ -z "$(find . -name '*.html.*' -o -name '.*.html*')" ] || die "something was left behind"
