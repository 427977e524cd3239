#!/usr/bin/env bash
# Compares what the program prints with the files beside this script, which were reviewed by eye.
# usage: run.sh PATH-TO-TACOS [--update]
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
tacos=$1
update=${2:-}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

# compare NAME: with the file of that name here, or replaces it.
compare() {
  if [ "$update" = --update ]; then
    cp "$work/$1" "$here/$1"
  elif ! diff -u "$here/$1" "$work/$1"; then
    failed=1
  fi
}

# golden NAME ARGS...: stdout of tacos ARGS, with what differs from run to run cut out. A TRACE
# argument stands for a trace file, whose contents are compared instead.
golden() {
  local name=$1 trace=
  shift
  local arguments=()
  for argument in "$@"; do
    [ "$argument" = TRACE ] && trace=$work/trace && argument=$trace
    arguments+=("$argument")
  done
  "$tacos" "${arguments[@]}" | sed '/^  took /d' >"$work/$name"
  [ -n "$trace" ] && mv "$trace" "$work/$name"
  compare "$name"
}

# exported FORMAT: the one small schedule as that format; a folder as its files, those that are not
# text in hexadecimal.
"$tacos" synth mesh:3,lat=0 all-reduce --size 6KB --chunks 1 --engine matching -o "$work/schedule" >"$work/said"
exported() {
  local name=export.$1
  "$tacos" export "$work/schedule" --format "$1" -o "$work/exported" 2>"$work/said"
  if [ -d "$work/exported" ]; then
    for file in "$work/exported"/*; do
      echo "== ${file##*/}"
      case $file in
        *.et) od -An -tx1 -v "$file" ;;
        *) cat "$file" ;;
      esac
    done >"$work/$name"
  else
    mv "$work/exported" "$work/$name"
  fi
  rm -rf "$work/exported"
  compare "$name"
}
for format in msccl msccl-azure rccl mscclpp chakra csv graphml dot perfetto; do
  exported "$format"
done

golden ring4_all_gather.trace synth ring:4,lat=0 all-gather --size 4KB --chunks 1 --engine matching \
  --trace TRACE
golden mesh2x2_all_reduce.trace synth mesh:2x2,bw=50GBps/25GBps all-reduce --size 8MB --chunks 4 \
  --engine matching --link-model pipelined --trace TRACE
golden mesh3x3_all_gather.txt synth mesh:3x3 all-gather --engine matching
golden mesh8x8_topology.txt topology show mesh:8x8,bw=50GBps/100GBps
golden rfs_topology.json topology show 'ring:2*switch:3,bw=200GBps/50GBps' --json
golden mesh8x8_bound.txt bound mesh:8x8 all-reduce
machines=$here/../data/machines
golden import_nccl.json topology show "$machines/nccl_ncv4_topo.xml" --json
golden import_hwloc.json topology show "$machines/hwloc_power8gpudistances.xml" --json
golden import_nvidia_smi.txt topology show "$machines/nvidia_smi_dgx1.txt"
golden import_rocm_smi.json topology show "$machines/rocm_smi_mi250.txt" --json
golden import_rccl.txt topology show "$machines/rccl_topo_4p2h.xml"
golden cluster.json topology cluster ring:2 --boxes 2 --fabric rail --nics 1 --nic-bw 200Gbps -o -
exit "$failed"
