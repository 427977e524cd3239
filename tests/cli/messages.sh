#!/usr/bin/env bash
# A message is one line in our own words, whatever the arguments are.
source "$(dirname "$0")/lib.sh"

fails 3 "unknown collective 'all\ngather'; did you mean 'all-gather'?" synth mesh:4x4 $'all\ngather'
fails 2 "unknown command 'syn\nth'; did you mean 'synth'?" $'syn\nth'
fails 2 "unknown option '--a\nb'" synth mesh:4x4 all-gather $'--a\nb'
fails 2 "unknown engine 'a\nb'" synth mesh:4x4 all-gather --engine $'a\nb'
fails 3 "no\nsuch.json: cannot be read" topology show $'no\nsuch.json'
fails 3 "\x1b[31mred" synth $'\e[31mred:4' all-gather
fails 3 "\xff\xfe" synth mesh:4x4 $'\xff\xfe'
fails 3 "ä" synth mesh:4x4 ä
# Also where the name of a network comes from a file.
printf '%s' '{"name": "a\nb", "npus": 2, "links": []}' >lines.json
fails 4 "a\nb: no schedule exists" synth lines.json all-gather
exits 0 topology show lines.json
says "a\nb: 2 NPUs"

# What is overlong is cut in the middle.
long=$(head -c 20000 /dev/zero | tr '\0' x)
short() {
  fails "$@"
  [ "$(wc -c <err)" -lt 1100 ] || die "says $(wc -c <err) bytes"
}
short 3 "unknown topology kind 'xxx" synth "$long" all-gather
short 3 "xxx'; known are all-gather" synth mesh:4x4 "$long"
short 3 "unknown unit 'xxx" synth mesh:4x4 all-gather --size "1$long"
short 3 "neither an NPU nor a range" synth mesh:4x4 all-gather --group "$long"
short 3 "unknown failure 'xxx" synth mesh:4x4 all-gather --fail "$long"
short 2 "one argument too many" synth mesh:4x4 all-gather "$long"
short 2 "unknown option '--xxx" synth mesh:4x4 all-gather "--$long"
short 2 "is not a whole number" synth mesh:4x4 all-gather --seed "$long"
short 3 "has too many digits" synth mesh:4x4 all-gather --size "${long//x/7}"
short 3 "unknown key" topology show <(echo "{\"${long//x/a b}\": 1}")

# A name that is not UTF-8 does not stop a report.
printf '{"npus": 2, "links": [{"src": 0, "dst": 1, "bandwidth_Bps": 1000000}, {"src": 1, "dst": 0, "bandwidth_Bps": 1000000}]}' \
  >$'\xff.json'
for command in "synth --size 1KB" bound "topology show"; do
  read -ra words <<<"$command"
  collective=(all-gather)
  [ "${words[0]}" != topology ] || collective=()
  exits 0 "${words[@]}" $'\xff.json' "${collective[@]}" --json
  python3 -c "import json; json.load(open('out', encoding='utf-8'))" || die "$command: not JSON"
  exits 0 "${words[@]}" $'\xff.json' "${collective[@]}"
  says '\xff'
done
exits 0 synth $'\xff.json' all-gather --size 1KB -o a.tacos
exits 0 verify a.tacos --json

# Nothing of what our libraries say.
echo '{"npus": 1e999, "links": []}' >huge.json
fails 3 "huge.json:1:14: a number ends here that is too large" topology show huge.json
echo '{"chunks": [{"sources": [0], "destinations": [1], "op": 3}]}' >op.json
fails 3 "chunks[0].op: must be a string, copy or reduce" bound ring:4 op.json
fails 2 "--json takes no value" synth ring:4 all-gather --json=maybe
fails 2 "--seed needs a value" synth ring:4 all-gather --seed
fails 2 "--seed is given twice" synth ring:4 all-gather --seed 1 --seed 2
fails 2 "COLLECTIVE is missing; 'tacos synth --help'" synth ring:4
fails 2 "--output is missing" topology convert ring:4
fails 2 "a command is missing; known are list, show, convert" topology
fails 2 "unknown command 'lst'; did you mean 'list'?" topology lst
fails 2 "did you mean '--size'?" synth mesh:4x4 all-gather --sise 1GB
