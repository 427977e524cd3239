#!/usr/bin/env bash
# Files are written whole or not at all, as what they were, and what cannot be written is refused at once.
source "$(dirname "$0")/lib.sh"

exits 0 synth ring:4 all-gather -o a.tacos --trace a.txt
[ "$(find . -name '*.partial*' | wc -l)" -eq 0 ] || die "left a temporary file"
fails 3 "cannot be written" synth ring:4 all-gather -o no/such/folder/a.tacos
fails 3 "is a folder" synth ring:4 all-gather -o .
exits 0 synth ring:4 all-gather -o /dev/null
[ -c /dev/null ] || die "replaced a device by a file"
# A full disk: the error is reported, and no file is left.
if [ -c /dev/full ]; then
  fails 3 "cannot be written" synth ring:4 all-gather -o /dev/full
fi

# Before the work, so before it is noticed that there is no schedule.
echo '{"npus": 2, "links": []}' >none.json
fails 4 "cannot reach" synth none.json all-gather -o b.tacos --trace b.txt
fails 3 "no/b.tacos: cannot be written" synth none.json all-gather -o no/b.tacos
fails 3 "no/b.txt: cannot be written" synth none.json all-gather --trace no/b.txt
fails 3 "/dev/null: is no directory to write to" synth none.json all-gather --stream /dev/null
fails 3 "no: is no directory to write to" synth none.json all-gather --stream no
fails 3 "no/net.json: cannot be written" topology convert missing.json -o no/net.json
[ "$(find . -name 'b.*' | wc -l)" -eq 0 ] || die "left a file although there is no schedule"
if [ "$(id -u)" -ne 0 ]; then
  mkdir locked
  chmod a-w locked
  fails 3 "cannot be written" synth none.json all-gather -o locked/a.tacos
  fails 3 "locked: cannot be written to" synth none.json all-gather --stream locked
  chmod u+w locked
  : >kept
  chmod a-w kept
  fails 3 "cannot be written" synth none.json all-gather -o kept
fi

# A mode is kept, a link is followed.
cp a.tacos secret.tacos
chmod 600 secret.tacos
exits 0 synth ring:4 all-gather -o secret.tacos
[ "$(stat -c %a secret.tacos)" = 600 ] || die "a secret file became readable"
(
  umask 027
  exits 0 synth ring:4 all-gather -o new.tacos
)
[ "$(stat -c %a new.tacos)" = 640 ] || die "a new file ignores the umask"
mkdir elsewhere
ln -s elsewhere/target.tacos link.tacos
for _ in new existing; do
  exits 0 synth ring:4 all-gather -o link.tacos
  [ -L link.tacos ] || die "a link was replaced by a file"
  cmp elsewhere/target.tacos a.tacos || die "what a link leads to was not written"
done
ln -s circle circle
fails 3 "a link that leads in a circle" synth ring:4 all-gather -o circle

# Two files for one place.
mkfifo pipe
ln -s elsewhere other
fails 2 "same: is where both -o and --trace shall go" synth ring:4 all-gather -o same --trace same
fails 2 "is where both" synth ring:4 all-gather -o same --trace ./elsewhere/../same
fails 2 "is where both" synth ring:4 all-gather -o "$PWD/same" --trace same
fails 2 "is where both" synth ring:4 all-gather -o elsewhere/same --trace other/same
fails 2 "is where both" synth ring:4 all-gather -o link.tacos --trace elsewhere/target.tacos
fails 2 "is where both" synth ring:4 all-gather -o pipe --trace pipe
exits 0 synth ring:4 all-gather -o /dev/null --trace /dev/null

# A pipe stays one, and may be the first of two that one reader reads.
mkfifo second
cat pipe second >both &
exits 0 synth ring:4 all-gather -o pipe --trace second
wait
cat a.tacos a.txt | cmp - both || die "pipes got something else"
[ -p pipe ] || die "replaced a pipe by a file"

for option in -o --trace --stream; do
  fails 2 "needs a name" synth ring:4 all-gather "$option" ""
done
fails 2 "needs a name" topology convert ring:4 -o ""
fails 2 "needs a name" verify ""
