#!/usr/bin/env bash
# The HPC Challenge, which knows nothing of tacos, with its collectives taken over: its own checks must pass.
# Called as: hpcc.sh BUILD-FOLDER; by `tools/dev drop-in`, which installs what it needs.
set -euo pipefail
build=$(cd "$1" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
cat >hpccinf.txt <<'TEXT'
HPLinpack benchmark input file
Innovative Computing Laboratory, University of Tennessee
HPL.out      output file name (if any)
8            device out (6=stdout,7=stderr,file)
1            # of problems sizes (N)
400          Ns
1            # of NBs
40           NBs
0            PMAP process mapping (0=Row-,1=Column-major)
1            # of process grids (P x Q)
2            Ps
2            Qs
16.0         threshold
1            # of panel fact
2            PFACTs (0=left, 1=Crout, 2=Right)
1            # of recursive stopping criterium
4            NBMINs (>= 1)
1            # of panels in recursion
2            NDIVs
1            # of recursive panel fact.
1            RFACTs (0=left, 1=Crout, 2=Right)
1            # of broadcast
1            BCASTs (0=1rg,1=1rM,2=2rg,3=2rM,4=Lng,5=LnM)
1            # of lookahead depth
1            DEPTHs (>=0)
2            SWAP (0=bin-exch,1=long,2=mix)
64           swapping threshold
0            L1 in (0=transposed,1=no-transposed) form
0            U  in (0=transposed,1=no-transposed) form
1            Equilibration (0=no,1=yes)
8            memory alignment in double (> 0)
##### This line (no. 32) is ignored (it serves as a separator). ######
0                      Number of additional problem sizes for PTRANS
1200 10000 30000       values of N
0                      number of additional blocking sizes for PTRANS
40 9 8 13 13 20 16 32 64       values of NB
TEXT
collectives=all-reduce,all-gather,reduce-scatter,all-to-all,reduce,gather,scatter
for root in 0 1 2 3; do
  collectives+=,broadcast:$root
done
"$build/bin/tacos" plan mesh:2x2 -o plan --collectives "$collectives" --sizes 8B..16MiB --effort 1 >/dev/null
env "LD_PRELOAD=$build/src/libtacos_pmpi.so" "TACOS_PLAN=$work/plan" TACOS_VERBOSE=1 \
  mpirun --allow-run-as-root --oversubscribe -np 4 hpcc 2>said >/dev/null
grep "tacos:" said
grep -q "taken over: .*MPI_Bcast" said || { echo "nothing was taken over" >&2; exit 1; }
if grep -q FAILED hpccoutf.txt || ! grep -q "^Success=1" hpccoutf.txt; then
  grep -E "FAILED|Success" hpccoutf.txt >&2
  exit 1
fi
echo "hpcc: $(grep -c PASSED hpccoutf.txt) checks passed, none failed"
