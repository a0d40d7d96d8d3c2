"""h5py with MPI: ranks write parts of datasets together and alone, and read those of others."""
import sys
sys.path.insert(0, sys.argv[1])
from mpi4py import MPI
import h5py
import numpy

world = MPI.COMM_WORLD
n = 100
assert "/dist-packages/" in MPI.__file__ and h5py.get_config().mpi  # Debian's, unpacked or installed
with h5py.File(sys.argv[2], "w", driver="mpio", comm=world) as file:
    data = file.create_dataset("data", (world.size, n), dtype="i8")
    with data.collective:
        data[world.rank, :] = numpy.arange(n) + 1000 * world.rank
    file.create_dataset("chunks", (n, world.size), dtype="f8", chunks=(10, 1))[:, world.rank] = world.rank
    file.attrs["ranks"] = world.size
with h5py.File(sys.argv[2], "r", driver="mpio", comm=world) as file:
    assert file.attrs["ranks"] == world.size
    other = (world.rank + 1) % world.size
    assert (file["data"][other] == numpy.arange(n) + 1000 * other).all()
    assert (file["chunks"][:, other] == other).all()
