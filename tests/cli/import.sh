#!/usr/bin/env bash
# Files of other programs wherever a TOPOLOGY is taken: what they are is found out, or said by
# --from; hostile and broken ones are refused in one line.
source "$(dirname "$0")/lib.sh"
machines=$data/machines

exits 0 topology list
for name in nccl rccl hwloc graphml sccl taccl networkx rocm-smi nvidia-smi astra-sim simai ns3 yaml; do
  says "$name"
done

# Every file converts to ours, and ours to itself.
for file in "$machines"/*; do
  exits 0 topology convert "$file" -o net.json
  [ ! -s err ] || die "$file: warnings"
  exits 0 topology convert net.json -o again.json
  cmp net.json again.json || die "$file: converting again changes it"
done
exits 0 synth "$machines/hwloc_power8gpudistances.xml" all-to-all --size 1MB --json
json "result['verified'] is True and result['npus'] == 4 and result['topology'] == 'hwloc_power8gpudistances'"
exits 0 bound "$machines/nvidia_smi_dgx1.txt" all-reduce --json
json "result['npus'] == 8"
# From a pipe as well.
code=0
"$tacos" topology show - --json <"$machines/rccl_topo_4p2h.xml" >out 2>err || code=$?
[ "$code" -eq 0 ] || die "standard input is not read"
json "result['name'] == 'stdin' and result['npus'] == 8 and result['node_names'][0] == 'gpu0'"

# --from and --latency.
cp "$machines/astra_sim.yml" network
exits 0 topology show network --from astra-sim
exits 0 topology show ./network
fails 3 "begins with" topology show "$machines/nccl_ncv4_topo.xml" --from hwloc
fails 2 "did you mean 'nccl'?" topology show "$machines/nccl_ncv4_topo.xml" --from ncl
fails 3 "cannot be read" topology show mesh:2x2 --from nccl
exits 0 topology show "$machines/nccl_ncv4_topo.xml" --latency nvlink=123ns
says "123.000 ns"
fails 3 "did you mean 'pcie'?" topology show "$machines/nccl_ncv4_topo.xml" --latency pci=1us

# A warning says which cell; the rest is read.
printf '\tGPU0\tGPU1\tGPU2\nGPU0\t X \tNV2\tXYZ\nGPU1\tNV2\t X \tNV2\nGPU2\tXYZ\tNV2\t X \n' >matrix.txt
exits 0 topology show matrix.txt
grep -qF "warning: matrix.txt:4: 'XYZ' between GPU2 and GPU0 is not known" err || die "no warning"
[ "$(wc -l <err)" -eq 1 ] || die "more than one warning"

# Hostile XML.
cat >bomb.xml <<'XML'
<?xml version="1.0"?>
<!DOCTYPE system [
  <!ENTITY a "aaaaaaaaaa">
  <!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">
]>
<system version="1"><cpu arch="&b;"/></system>
XML
fails 3 "bomb.xml:5: defines entities" topology show bomb.xml
python3 -c "print('<system>' + '<pci>' * 100000)" >deep.xml
fails 3 "deep.xml:1: is nested more than" topology show deep.xml
head -c 700 "$machines/nccl_ncv4_topo.xml" >half.xml
fails 3 "half.xml:" topology show half.xml
sed '/u64values length="26"/d' "$machines/hwloc_power8gpudistances.xml" >short.xml
fails 3 "short.xml:194: the matrix NVLinkBandwidth has 30 values for 6 objects" topology show short.xml
printf '\tGPU0\tGPU1\nGPU0\t X \tNV2\n' >rows.txt
fails 3 "rows.txt:1: has 2 devices but 1 rows" topology show rows.txt
printf '\tGPU0\tGPU1\nGPU0\t X \tNV2\nGPU1\tNV1\t X \n' >skewed.txt
fails 3 "skewed.txt:3: GPU1 has 'NV1' for GPU0, which has 'NV2' for it" topology show skewed.txt
echo "what is this" >unknown.txt
fails 3 "unknown.txt: is in no format that is known" topology show unknown.txt
fails 3 "cannot be read" topology show missing.xml
