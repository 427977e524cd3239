#!/usr/bin/env bash
# Bad input: exit 3 and one clear sentence.
source "$(dirname "$0")/lib.sh"

synth() {
  local text=$1
  shift
  fails 3 "$text" synth "$@"
}
synth "did you mean 'torus'" tours:4x4 all-gather
synth "did you mean 'mesh'" mehs:4x4 all-gather
synth "unknown topology key 'bandwidth'" mesh:4x4,bandwidth=5GBps all-gather
synth "did you mean 'bw'" mesh:4x4,bww=5GBps all-gather
synth "did you mean 'all-gather'" mesh:4x4 al-gather
synth "a dimension of 0" mesh:0x4 all-gather
synth "is not a number" mesh:-1x4 all-gather
synth "is not a number" mesh:4x all-gather
synth "more than the" mesh:99999999999x4 all-gather
synth "more NPUs than" torus:100000x100000 all-gather
synth "links, more than" fc:100000 all-gather
synth "needs a size" mesh all-gather
synth "bandwidth '0GBps' is zero" mesh:4x4,bw=0GBps all-gather
synth "bandwidth '-5GBps' is negative" mesh:4x4,bw=-5GBps all-gather
synth "is not a number" mesh:4x4,bw=nan all-gather
synth "is not a number" mesh:4x4,bw=inf all-gather
synth "is too large" mesh:4x4,bw=1e300GBps all-gather
synth "is negative" mesh:4x4,lat=-1us all-gather
synth "has 3 values for 2 dimensions" mesh:4x4,bw=1GBps/2GBps/3GBps all-gather
synth "size '0' is zero" mesh:4x4 all-gather --size 0
synth "is negative" mesh:4x4 all-gather --size=-1GB
synth "is not a number" mesh:4x4 all-gather --size nan
synth "is not a number" mesh:4x4 all-gather --size inf
synth "is too large" mesh:4x4 all-gather --size 1e30
synth "did you mean" mesh:4x4 all-gather --size 1Gib
synth "10 B is too small to give each of 16 NPUs a part" mesh:4x4 all-gather --size 10
synth "unknown unit 'EiB'; known are B, KB" mesh:4x4 all-gather --size 1EiB
synth "gives bw= twice" mesh:4x4,bw=1GBps,bw=2GBps all-gather
synth "gives lat= twice" mesh:4x4,lat=1us,bw=1GBps,lat=1us all-gather
synth "gives unwind= twice" switch:4,unwind=1,unwind=1 all-gather
synth "cannot be cut into" mesh:4x4 all-gather --chunks 99999999999
synth "53 days" ring:2,bw=1Bps all-gather --size 1000TB
synth "options come after the last block" ring:2,bw=1GBps*ring:3 all-gather
synth "cannot be read" missing.json all-gather

echo '{"npus": 2, "links": [' >broken.json
synth "broken.json:2:1" broken.json all-gather
echo '{"npus": 2, "links": [{"src": 0, "dst": 5, "bandwidth_Bps": 1}]}' >nowhere.json
synth "links[0]: node 5 does not exist" nowhere.json all-gather
echo '{"npus": 2, "links": [], "npus": 3}' >twice.json
synth "twice.json: 'npus' is given twice" twice.json all-gather
printf '{"npus": 1, "links": []}\0{"npus": 2}' >nul.json
synth "nul.json: has a NUL byte in it" nul.json all-gather
synth "/dev/zero: has a NUL byte in it" /dev/zero all-gather
synth "/dev/zero: has a NUL byte in it" ring:4 /dev/zero
mkdir folder.json
synth "is a folder" folder.json all-gather
