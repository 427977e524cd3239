#!/usr/bin/env bash
# Programs that know nothing of tacos get the same results, by its schedules where there are some.
# Called as: mpi_drop_in.sh PATH-TO-TACOS [PATH-TO-TACOS-MPI [PATH-TO-LIBRARY]]; skipped without the
# last, and without mpi4py.
source "$(dirname "$0")/lib.sh"
library=${3:-}
[ -n "$library" ] || exit 77
/usr/bin/python3 -c 'import mpi4py' 2>/dev/null || exit 77

mkdir plan
for collective in all-reduce all-gather reduce-scatter broadcast broadcast:2 reduce:1 gather:3 scatter all-to-all; do
  exits 0 synth mesh:2x2 "$collective" --size 64KiB -o "plan/${collective/:/-}.tacos"
done
exits 0 synth mesh:2x2 all-reduce --size 256 -o plan/all-reduce-small.tacos
exits 0 synth mesh:2x2 all-reduce --group 0,2 --size 64KiB -o plan/pair.tacos

cat >program.py <<'PYTHON'
import array
from mpi4py import MPI

world = MPI.COMM_WORLD
rank, ranks = world.Get_rank(), world.Get_size()


def numbers(count, who=rank):
    return array.array("d", [(7 * i + 3 * who) % 11 for i in range(count)])


def zeros(count):
    return array.array("d", bytes(8 * count))


def sums(count, who=None):
    rows = [numbers(count, r) for r in (range(ranks) if who is None else who)]
    return [sum(column) for column in zip(*rows)]


def check(what, got, expected):
    if list(got) != list(expected):
        print("WRONG", what, "at", rank, flush=True)
        world.Abort(1)


for n in (1, 5, 1000):
    total = sums(n)
    out = zeros(n)
    world.Allreduce(numbers(n), out)
    check("Allreduce", out, total)
    out = numbers(n)
    world.Allreduce(MPI.IN_PLACE, out)
    check("Allreduce in place", out, total)
    world.Allreduce(numbers(n), out, op=MPI.MAX)
    check("Allreduce max", out, [max(column) for column in zip(*[numbers(n, r) for r in range(ranks)])])
    all_parts = [x for r in range(ranks) for x in numbers(n, r)]
    out = zeros(n * ranks)
    world.Allgather(numbers(n), out)
    check("Allgather", out, all_parts)
    out = zeros(n * ranks)
    out[rank * n:(rank + 1) * n] = numbers(n)
    world.Allgather(MPI.IN_PLACE, out)
    check("Allgather in place", out, all_parts)
    whole = sums(n * ranks)
    out = zeros(n)
    world.Reduce_scatter_block(numbers(n * ranks), out)
    check("Reduce_scatter_block", out, whole[rank * n:(rank + 1) * n])
    out = numbers(n * ranks)
    world.Reduce_scatter_block(MPI.IN_PLACE, out)
    check("Reduce_scatter_block in place", out[:n], whole[rank * n:(rank + 1) * n])
    out = zeros(n)
    world.Reduce_scatter(numbers(n * ranks), out, recvcounts=[n] * ranks)
    check("Reduce_scatter", out, whole[rank * n:(rank + 1) * n])
    for root in (0, 1, 2):
        out = numbers(n)
        world.Bcast(out, root=root)
        check("Bcast", out, numbers(n, root))
    out = zeros(n) if rank == 1 else None
    world.Reduce(numbers(n), out, root=1)
    if rank == 1:
        check("Reduce", out, total)
    out = numbers(n)
    if rank == 1:
        world.Reduce(MPI.IN_PLACE, out, root=1)
        check("Reduce in place", out, total)
    else:
        world.Reduce(out, None, root=1)
    out = zeros(n * ranks) if rank == 3 else None
    world.Gather(numbers(n), out, root=3)
    if rank == 3:
        check("Gather", out, all_parts)
    out = zeros(n)
    world.Scatter(numbers(n * ranks) if rank == 0 else None, out, root=0)
    check("Scatter", out, numbers(n * ranks, 0)[rank * n:(rank + 1) * n])
    out = zeros(n * ranks)
    world.Alltoall(numbers(n * ranks), out)
    turned = [x for r in range(ranks) for x in numbers(n * ranks, r)[rank * n:(rank + 1) * n]]
    check("Alltoall", out, turned)
    out = numbers(n * ranks)
    world.Alltoall(MPI.IN_PLACE, out)
    check("Alltoall in place", out, turned)
    # Another order of ranks, and some of them.
    back = world.Split(0, -rank)
    out = zeros(n * ranks)
    back.Allgather(numbers(n), out)
    check("Allgather backwards", out, [x for r in reversed(range(ranks)) for x in numbers(n, r)])
    back.Free()
    pair = world.Split(rank % 2, rank)
    out = zeros(n)
    pair.Allreduce(numbers(n), out)
    check("Allreduce of two", out, sums(n, (rank % 2, rank % 2 + 2)))
    pair.Free()

# What is left to the library.
kind = MPI.DOUBLE.Create_contiguous(2).Commit()
out = zeros(2 * ranks)
world.Allgather([numbers(2), 1, kind], [out, 1, kind])
check("derived", out, [x for r in range(ranks) for x in numbers(2, r)])
own = MPI.Op.Create(lambda a, b, t: None, commute=True)
world.Allreduce(numbers(3), zeros(3), op=own)
out, mine = zeros(4), numbers(4)
world.Iallreduce(mine, out).Wait()
check("Iallreduce", out, sums(4))
out = zeros(4)
world.Ireduce(mine, out, root=1).Wait()
check("Ireduce", out, sums(4) if rank == 1 else zeros(4))
out, all_mine = zeros(1), numbers(ranks)
world.Ireduce_scatter_block(all_mine, out).Wait()
check("Ireduce_scatter_block", out, sums(ranks)[rank:rank + 1])
out = zeros(1)
world.Ireduce_scatter(all_mine, out, recvcounts=[1] * ranks).Wait()
check("Ireduce_scatter", out, sums(ranks)[rank:rank + 1])
out = zeros(4 * ranks)
world.Igather(mine, out, root=0).Wait()
check("Igather", out, [x for r in range(ranks) for x in numbers(4, r)] if rank == 0 else zeros(4 * ranks))
out = zeros(1)
world.Iscatter(all_mine, out, root=3).Wait()
check("Iscatter", out, numbers(ranks, 3)[rank:rank + 1])
if rank == 0:
    print("right")
PYTHON

# with VARIABLES...: runs the program by four ranks.
with() {
  code=0
  env "$@" timeout 60 mpirun --allow-run-as-root --oversubscribe --quiet -np 4 /usr/bin/python3 program.py \
    >out 2>err || code=$?
  [ "$code" -eq 0 ] || die "exited $code with $*"
  says right
}

with "LD_PRELOAD=$library" "TACOS_PLAN=$PWD/plan" TACOS_VERBOSE=1
for text in "9 MPI_Allgather" "12 MPI_Allreduce" "6 MPI_Alltoall" "6 MPI_Bcast" "3 MPI_Gather" "6 MPI_Reduce" \
  "3 MPI_Reduce_scatter" "6 MPI_Reduce_scatter_block" "3 MPI_Scatter"; do
  grep "taken over" err | grep -qE "[ ,]$text(,|$)" || die "did not take over '$text'"
done
for text in "1 MPI_Allgather (derived datatype)" "1 MPI_Allreduce (operation)" \
  "1 MPI_Iallreduce (nonblocking)" "1 MPI_Ireduce (nonblocking)" "1 MPI_Ireduce_scatter_block (nonblocking)" \
  "1 MPI_Ireduce_scatter (nonblocking)" "1 MPI_Igather (nonblocking)" "1 MPI_Iscatter (nonblocking)" \
  "MPI_Bcast (no plan for it)"; do
  grep -qF -- "$text" err || die "does not say '$text'"
done
# Without a plan, with one that is empty, or broken, everything is as it was.
with "LD_PRELOAD=$library"
[ ! -s err ] || die "speaks without a plan"
mkdir empty
with "LD_PRELOAD=$library" "TACOS_PLAN=$PWD/empty"
[ "$(grep -c 'has no schedules' err)" -eq 1 ] || die "does not say once that a plan is empty"
head -c 300 plan/all-reduce.tacos >empty/broken.tacos
with "LD_PRELOAD=$library" "TACOS_PLAN=$PWD/empty"
[ "$(grep -c 'broken.tacos' err)" -eq 1 ] || die "does not say once that a plan is broken"
# Ranks that are other NPUs.
echo "3 2 1 0" >map
with "LD_PRELOAD=$library" "TACOS_PLAN=$PWD/plan" "TACOS_MAP=$PWD/map" TACOS_VERBOSE=1
grep -q "taken over: .*MPI_Allgather" err || die "takes nothing over with a map"

# A plan with an index: what is outside its sizes is the library's.
exits 0 plan mesh:2x2 -o indexed --collectives all-reduce --sizes 16B..64B --effort 1
with "LD_PRELOAD=$library" "TACOS_PLAN=$PWD/indexed" TACOS_VERBOSE=1
grep -qE "taken over: [0-9]+ MPI_Allreduce" err || die "takes nothing over by a plan"
grep -qF "MPI_Allreduce (no plan for it)" err || die "takes over what the plan is not for"
