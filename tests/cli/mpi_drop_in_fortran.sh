#!/usr/bin/env bash
# Programs in Fortran that know nothing of tacos get the same results, by its schedules where there are some.
# Called as: mpi_drop_in_fortran.sh PATH-TO-TACOS [PATH-TO-TACOS-MPI [PATH-TO-LIBRARY]]; skipped without the last, and
# without a Fortran compiler.
source "$(dirname "$0")/lib.sh"
library=${3:-}
[ -n "$library" ] || exit 77
mpif90 --version >/dev/null 2>&1 || exit 77

mkdir plan
for collective in all-reduce all-gather reduce-scatter broadcast:2 reduce:1 gather:3 scatter all-to-all; do
  exits 0 synth mesh:2x2 "$collective" --size 8KiB -o "plan/${collective/:/-}.tacos"
done

# What is between the declarations is the same for all three ways to call MPI.
cat >body.inc <<'FORTRAN'
  integer, parameter :: n = 250
  double precision :: mine(n), out(n), whole(4 * n), parts(4 * n)
  real :: small(3)
  integer :: rank, i, r, ierr, counts(4)
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  mine = [(value(i, rank), i = 1, n)]
  whole = [(value(i, rank), i = 1, 4 * n)]
  counts = n

  call MPI_Allreduce(mine, out, n, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierr)
  call check("Allreduce", all(out == total(n)))
  out = mine
  call MPI_Allreduce(MPI_IN_PLACE, out, n, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierr)
  call check("Allreduce in place", all(out == total(n)))
  small = real(rank)
  call MPI_Allreduce(MPI_IN_PLACE, small, 3, MPI_REAL, MPI_MAX, MPI_COMM_WORLD, ierr)
  call check("Allreduce of reals", all(small == 3.0))
  call MPI_Allgather(mine, n, MPI_DOUBLE_PRECISION, parts, n, MPI_DOUBLE_PRECISION, MPI_COMM_WORLD, ierr)
  call check("Allgather", all(parts == [((value(i, r), i = 1, n), r = 0, 3)]))
  call MPI_Reduce_scatter_block(whole, out, n, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierr)
  parts = total(4 * n)
  call check("Reduce_scatter_block", all(out == parts(rank * n + 1:rank * n + n)))
  call MPI_Reduce_scatter(whole, out, counts, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierr)
  call check("Reduce_scatter", all(out == parts(rank * n + 1:rank * n + n)))
  out = mine
  call MPI_Bcast(out, n, MPI_DOUBLE_PRECISION, 2, MPI_COMM_WORLD, ierr)
  call check("Bcast", all(out == [(value(i, 2), i = 1, n)]))
  call MPI_Reduce(mine, out, n, MPI_DOUBLE_PRECISION, MPI_SUM, 1, MPI_COMM_WORLD, ierr)
  call check("Reduce", rank /= 1 .or. all(out == total(n)))
  call MPI_Gather(mine, n, MPI_DOUBLE_PRECISION, parts, n, MPI_DOUBLE_PRECISION, 3, MPI_COMM_WORLD, ierr)
  call check("Gather", rank /= 3 .or. all(parts == [((value(i, r), i = 1, n), r = 0, 3)]))
  call MPI_Scatter(whole, n, MPI_DOUBLE_PRECISION, out, n, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
  call check("Scatter", all(out == [(value(i, 0), i = rank * n + 1, rank * n + n)]))
  call MPI_Alltoall(whole, n, MPI_DOUBLE_PRECISION, parts, n, MPI_DOUBLE_PRECISION, MPI_COMM_WORLD, ierr)
  call check("Alltoall", all(parts == [((value(i, r), i = rank * n + 1, rank * n + n), r = 0, 3)]))
  if (rank == 0) print *, "right"
  call MPI_Finalize(ierr)
contains
  double precision function value(i, who)
    integer, intent(in) :: i, who
    value = mod(7 * i + 3 * who, 11)
  end function
  function total(count)
    integer, intent(in) :: count
    double precision :: total(count)
    integer :: i, who
    total = [(sum([(value(i, who), who = 0, 3)]), i = 1, count)]
  end function
  subroutine check(what, right)
    character(*), intent(in) :: what
    logical, intent(in) :: right
    integer :: code
    if (right) return
    print *, "WRONG ", what, " at ", rank
    call MPI_Abort(MPI_COMM_WORLD, 1, code)
  end subroutine
FORTRAN

for way in "use mpi" "use mpi_f08" "include"; do
  {
    echo "program collectives"
    [ "$way" = include ] || echo "  $way"
    echo "  implicit none"
    [ "$way" != include ] || echo "  include 'mpif.h'"
    echo "  include 'body.inc'"
    echo "end program"
  } >program.f90
  mpif90 -fallow-argument-mismatch program.f90 -o program 2>err || die "does not compile with '$way'"
  for plan in plan none; do
    code=0
    env "LD_PRELOAD=$library" "TACOS_PLAN=$([ "$plan" = none ] || echo "$PWD/plan")" TACOS_VERBOSE=1 \
      timeout 60 mpirun --allow-run-as-root --oversubscribe --quiet -np 4 ./program >out 2>err || code=$?
    [ "$code" -eq 0 ] || die "exited $code with '$way'"
    says right
    [ "$plan" = plan ] || continue
    for text in "1 MPI_Allgather" "3 MPI_Allreduce" "1 MPI_Alltoall" "1 MPI_Bcast" "1 MPI_Gather" "1 MPI_Reduce" \
      "1 MPI_Reduce_scatter" "1 MPI_Reduce_scatter_block" "1 MPI_Scatter"; do
      grep "taken over" err | grep -qE "[ ,]$text(,|$)" || die "did not take over '$text' with '$way'"
    done
  done
done
