! SPDX-License-Identifier: BSD-3-Clause
! logbook -- each rank appends to a log of its own, and rank 0 to one of the job, that were begun by an earlier run: opened
! anew for each line, as codes do that run for weeks.
!     logbook LINES
program logbook
    use mpi
    use iso_c_binding, only: c_int
    implicit none
    interface
        function usleep(microseconds) bind(c)
            import :: c_int
            integer(c_int), value :: microseconds
            integer(c_int) :: usleep
        end function
    end interface
    integer :: rank, ranks, rc, line, lines
    double precision :: sum, mine
    character(len=16) :: word, name
    call get_command_argument(1, word)
    read (word, *) lines
    call MPI_Init(rc)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, rc)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks, rc)
    write (name, '(a,i0)') 'log.', rank
    do line = 1, lines
        mine = dble(rank + 1)*line
        call MPI_Allreduce(mine, sum, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, rc)
        call append(name)
        if (rank == 0) call append('run.log')
        rc = usleep(20000)
    end do
    if (rank == 0) print '(a,i0,a,i0,a)', 'logbook: ', ranks, ' ranks, ', lines, ' lines'
    call MPI_Finalize(rc)
contains
    subroutine append(file)
        character(len=*), intent(in) :: file
        open (unit=17, file=trim(file), status='unknown', position='append', action='write')
        write (17, '(a,i0,a,f0.1)') 'line ', line, ' sum ', sum
        close (17)
    end subroutine
end program
