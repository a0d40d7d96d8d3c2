"""Boost.MPI: collectives and messages of objects that have to be serialized."""
import sys
sys.path.insert(0, sys.argv[1])
import boost.mpi as mpi

world = mpi.world
size, rank = world.size, world.rank
assert mpi.all_reduce(world, rank, lambda a, b: a + b) == size * (size - 1) // 2
assert list(mpi.all_gather(world, {"rank": rank})) == [{"rank": i} for i in range(size)]
assert mpi.broadcast(world, "text" if rank == 0 else None, 0) == "text"
request = world.isend((rank + 1) % size, 7, [rank] * 1000)
assert world.recv((rank - 1) % size, 7) == [(rank - 1) % size] * 1000
request.wait()
half = world.split(rank % 2)
assert mpi.all_reduce(half, 1, lambda a, b: a + b) == half.size
world.barrier()
