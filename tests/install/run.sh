#!/usr/bin/env bash
# Installs into an empty prefix and builds the examples from there, with CMake and without.
# Called as: run.sh SOURCE-DIRECTORY BUILD-DIRECTORY
set -euo pipefail
source=$1
build=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cmake --install "$build" --prefix "$work/usr" >/dev/null
# Nothing of ours but what was installed may be found; the copy shows that it can be moved.
mv "$work/usr" "$work/moved"
libraries=$(dirname "$(find "$work/moved" -name libtacos.so)")

cmake -S "$source/examples" -B "$work/build" -DCMAKE_PREFIX_PATH="$work/moved" >/dev/null
cmake --build "$work/build" >/dev/null
"$work/build/example_all_gather" >"$work/out"
grep -q "correct in" "$work/out"

export PKG_CONFIG_PATH=$libraries/pkgconfig
read -ra flags < <(pkg-config --cflags --libs tacos)
g++ "$source/examples/all_gather.cc" "${flags[@]}" -o "$work/example"
LD_LIBRARY_PATH=$libraries "$work/example" >"$work/out"
grep -q "correct in" "$work/out"

# So does that of MPI programs, where there is MPI.
if pkg-config --exists tacos-mpi; then
  read -ra flags < <(pkg-config --cflags --libs tacos-mpi)
  mpicc "$source/examples/mpi_all_reduce.c" "${flags[@]}" -o "$work/mpi_example"
  LD_LIBRARY_PATH=$libraries bash "$source/tests/install/mpi_example.sh" "$build/bin/tacos" \
    "$work/mpi_example"
fi

# The programs stand alone, and what the library does to its host is nothing but its work.
"$work/moved/bin/tacos" synth ring:4 all-gather >"$work/out"
grep -q verified "$work/out"
objdump -p "$work/moved/bin/tacos" >"$work/out"
if grep -q 'NEEDED.*libtacos' "$work/out"; then
  echo "the program needs the library" >&2
  exit 1
fi
objdump -p "$libraries/libtacos.so" >"$work/out"
grep -q 'SONAME.*libtacos.so.0' "$work/out"
