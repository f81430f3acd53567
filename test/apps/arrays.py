# SPDX-License-Identifier: BSD-3-Clause
# arrays.py -- mpi4py: objects in messages, a farm with wildcards, arrays in collectives. Argument: rounds.
import sys
import numpy
from mpi4py import MPI

world = MPI.COMM_WORLD
rank, size = world.rank, world.size


def ring(n):
    """A word set goes around: its order in a message is Python's, by hashes of strings."""
    words = {f"word {rank} {i}" for i in range(n % 20 + 1)}
    for word in words:  # of different lengths: lanes would notice
        world.isend(word, dest=rank, tag=3).Free()
        world.recv(source=rank, tag=3)
    got = world.sendrecv(words, dest=(rank + 1) % size, source=(rank - 1) % size)
    return len(got & {f"word {(rank - 1) % size} {i}" for i in range(20)}) == n % 20 + 1


def farm(n):
    """Rank 0 gives tasks to whoever asks."""
    if rank > 0:
        world.send({"rank": rank, "result": None}, dest=0, tag=1)
        while (task := world.recv(source=0)) is not None:
            world.send({"rank": rank, "result": task**2}, dest=0, tag=1)
        return True
    status, results, tasks = MPI.Status(), [], list(range(n % 7 + 5))
    working = size - 1
    while working:
        answer = world.recv(source=MPI.ANY_SOURCE, tag=MPI.ANY_TAG, status=status)
        results += [answer["result"]] if answer["result"] is not None else []
        task = tasks.pop() if tasks else None
        working -= task is None
        world.send(task, dest=status.Get_source())
    return sorted(results) == [i**2 for i in range(n % 7 + 5)]


def collectives(n):
    mine = numpy.full(1000 + n, rank + 1, dtype="d")
    total = numpy.empty_like(mine)
    world.Allreduce(mine, total, op=MPI.SUM)
    everyone = world.allgather((rank, n))
    rows = numpy.arange(size * 4, dtype="i") if rank == 0 else None
    row = numpy.empty(4, dtype="i")
    world.Scatter(rows, row, root=0)
    request = world.Ireduce(row, total[:2].view("i") if rank == 0 else None, op=MPI.MAX, root=0)
    right = bool((total[2:] == size * (size + 1) / 2).all()) and everyone == [(i, n) for i in range(size)]
    request.Wait()
    return right and bool((row == numpy.arange(4) + 4 * rank).all())


rounds = int(sys.argv[1])
if rank == 0:
    print("arrays: begin", flush=True)
wrong = sum(not part(n) for n in range(rounds) for part in (ring, farm, collectives))
if world.reduce(wrong, op=MPI.SUM, root=0) == 0:
    print(f"arrays: {size} ranks, {rounds} rounds, all right")
