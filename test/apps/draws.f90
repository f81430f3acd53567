! SPDX-License-Identifier: BSD-3-Clause
! draws.f90 -- random numbers as Fortran programs have them: unseeded, seeded by the system, by its own clock, from a device.
! The clock goes on from before MPI_Init, if it was looked at there, and past MPI_Finalize; the processor's time is the same
! in all copies although there are threads and a child.
!
!     draws [early]
program draws
    use mpi
    use omp_lib
    use, intrinsic :: iso_fortran_env, only: int64
    use, intrinsic :: iso_c_binding, only: c_int
    implicit none
    interface
        integer(c_int) function make_child() bind(c, name='fork')
            import
        end function
        subroutine end_child(status) bind(c, name='_exit')
            import
            integer(c_int), value :: status
        end subroutine
    end interface
    integer :: rank, error, n, unit, device
    integer(int64) :: ticks, first, last, rate
    logical :: is_early
    integer, allocatable :: seed(:)
    real(8) :: unseeded, by_system, by_clock, seconds, openmp

    is_early = command_argument_count() > 0
    if (is_early) then
        call system_clock(first)
        openmp = omp_get_wtime()
    end if
    call MPI_Init(error)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
    if (is_early) then
        if (omp_get_wtime() < openmp .or. omp_get_wtime() - openmp > 60) error stop 'draws: the clock of OpenMP did not go on'
    end if
    call random_number(unseeded)
    call random_seed()
    call random_number(by_system)
    call random_seed(size = n)
    allocate (seed(n))
    call system_clock(ticks)
    seed = rank + int(mod(ticks, 1000000007_int64))
    call random_seed(put = seed)
    call random_number(by_clock)
    if (is_early) by_clock = 0
    open (newunit = unit, file = '/dev/urandom', access = 'stream', form = 'unformatted', action = 'read', status = 'old')
    read (unit) device
    close (unit)
    if (.not. is_early) then
        openmp = omp_get_wtime()
        call send_as_many(1d9 * (omp_get_wtime() - openmp))
    end if
    !$omp parallel num_threads(2)
    if (omp_get_thread_num() < 0) error stop 'draws: no thread'
    !$omp end parallel
    if (make_child() == 0) call end_child(0)
    call cpu_time(seconds)
    call send_as_many(1d6 * seconds)
    if (omp_get_wtime() < openmp .or. omp_get_wtime() - openmp > 60) error stop 'draws: the clock of OpenMP went elsewhere'
    print '(a,i0,a,3f18.15,i13,f12.6)', 'draws: rank ', rank, ' drew', unseeded, by_system, by_clock, device, seconds
    if (.not. is_early) first = ticks
    call system_clock(last, rate)
    if (last < first .or. last - first > 60 * rate) error stop 'draws: the clock went elsewhere'
    call MPI_Finalize(error)
    call system_clock(last)
    if (last < first .or. last - first > 60 * rate) error stop 'draws: the clock went elsewhere in the end'
contains
    subroutine send_as_many(bytes) ! what lanes have to agree on
        real(8), intent(in) :: bytes
        integer, parameter :: most = 65536
        character(len=1) :: to(most), from(most)
        integer :: ranks
        call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
        to = ' '
        call MPI_Sendrecv(to, mod(int(bytes), most), MPI_CHARACTER, mod(rank + 1, ranks), 1, from, most, MPI_CHARACTER, &
            mod(rank + ranks - 1, ranks), 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
    end subroutine
end program
