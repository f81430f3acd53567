! SPDX-License-Identifier: BSD-3-Clause
! draws.f90 -- random numbers as Fortran programs have them: unseeded, seeded by the system, by its own clock, from a device.
program draws
    use mpi
    use, intrinsic :: iso_fortran_env, only: int64
    implicit none
    integer :: rank, error, n, unit, device
    integer(int64) :: ticks
    integer, allocatable :: seed(:)
    real(8) :: unseeded, by_system, by_clock, seconds

    call MPI_Init(error)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
    call random_number(unseeded)
    call random_seed()
    call random_number(by_system)
    call random_seed(size = n)
    allocate (seed(n))
    call system_clock(ticks)
    seed = int(mod(ticks, 1000000007_int64)) + rank
    call random_seed(put = seed)
    call random_number(by_clock)
    open (newunit = unit, file = '/dev/urandom', access = 'stream', form = 'unformatted', action = 'read', status = 'old')
    read (unit) device
    close (unit)
    call cpu_time(seconds)
    print '(a,i0,a,3f18.15,i13,f12.6)', 'draws: rank ', rank, ' drew', unseeded, by_system, by_clock, device, seconds
    call MPI_Finalize(error)
end program
