# shellcheck shell=bash
# Shared by the scripts of this folder, each of which checks one behaviour of the command line.
# Called as: NAME.sh PATH-TO-TACOS
set -euo pipefail
tacos=$1
# Empty where it was not built, and for scripts that do not want it.
tacos_mpi=${2:-}
# Inputs that showed a defect once; for the scripts.
# shellcheck disable=SC2034
data=$(cd "$(dirname "${BASH_SOURCE[0]}")/../data" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# run ARGS...: runs tacos, keeps stdout in out, stderr in err, the exit code in $code.
run() {
  code=0
  "$tacos" "$@" >out 2>err || code=$?
}

# by RANKS ARGS...: like run, by so many processes of tacos-mpi.
by() {
  local ranks=$1
  shift
  code=0
  mpirun --allow-run-as-root --oversubscribe --quiet -np "$ranks" "$tacos_mpi" "$@" \
    >out 2>err || code=$?
}

die() {
  echo "FAILED: $*" >&2
  echo "--- stdout" >&2
  cat out >&2
  echo "--- stderr" >&2
  cat err >&2
  exit 1
}

# exits CODE ARGS...: tacos ARGS exits with CODE.
exits() {
  local expected=$1
  shift
  run "$@"
  [ "$code" -eq "$expected" ] || die "'tacos $*' exited $code, not $expected"
}

# fails CODE TEXT ARGS...: exits with CODE, says TEXT in one line on stderr, prints no data.
fails() {
  local expected=$1 text=$2
  shift 2
  exits "$expected" "$@"
  grep -qF -- "$text" err || die "'tacos $*' does not say '$text'"
  [ "$(wc -l <err)" -eq 1 ] || die "'tacos $*' says more than one line"
  [ ! -s out ] || die "'tacos $*' prints data although it failed"
}

# says TEXT: the last run printed TEXT on stdout.
says() { grep -qF -- "$1" out || die "stdout lacks '$1'"; }

# json EXPRESSION: a Python expression over `result`, the JSON that the last run printed, is true.
json() {
  python3 -c "
import json, sys
result = json.load(open('out'))
sys.exit(0 if ($1) else 1)" || die "JSON: $1 does not hold"
}
