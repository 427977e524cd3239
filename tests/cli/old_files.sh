#!/usr/bin/env bash
# Files of earlier versions are still read.
data=$(cd "$(dirname "$0")/../data" && pwd)
source "$(dirname "$0")/lib.sh"

exits 0 verify "$data/version-1.tacos"
says "valid"
says "mesh:3x3 --fail link:0-1"
exits 0 topology show "$data/version-1.json" --json
json "result['version'] == 2 and len(result['links']) == 22"
