"""An HDF5 that was built with the MPI of -abi: ranks write parts of a dataset together, and read those of others."""
import ctypes
import sys
from mpi4py import MPI

h5 = ctypes.CDLL(sys.argv[1])
world = MPI.COMM_WORLD
n = 1000
id_t, size_t = ctypes.c_int64, ctypes.c_uint64


def call(name, *arguments, result=id_t):
    function = getattr(h5, name)
    function.restype = result
    answer = function(*arguments)
    assert answer >= 0, name
    return answer


def ident(name):
    return id_t(id_t.in_dll(h5, name).value)


def handle(kind, value):
    return (ctypes.c_int if MPI._sizeof(kind) == 4 else ctypes.c_void_p)(MPI._handleof(value))


assert call("H5open", result=ctypes.c_int) == 0
access = id_t(call("H5Pcreate", ident("H5P_CLS_FILE_ACCESS_ID_g")))
call("H5Pset_fapl_mpio", access, handle(MPI.Comm, world), handle(MPI.Info, MPI.INFO_NULL), result=ctypes.c_int)
together = id_t(call("H5Pcreate", ident("H5P_CLS_DATASET_XFER_ID_g")))
call("H5Pset_dxpl_mpio", together, ctypes.c_int(1), result=ctypes.c_int)
file = id_t(call("H5Fcreate", sys.argv[2].encode(), ctypes.c_uint(2), id_t(0), access))
shape = (size_t * 2)(world.size, n)
space = id_t(call("H5Screate_simple", ctypes.c_int(2), shape, None))
data = id_t(call("H5Dcreate2", file, b"data", ident("H5T_NATIVE_INT_g"), space, id_t(0), id_t(0), id_t(0)))


def transfer(what, row, values):
    part = (size_t * 2)(1, n)
    memory = id_t(call("H5Screate_simple", ctypes.c_int(2), part, None))
    call("H5Sselect_hyperslab", space, ctypes.c_int(0), (size_t * 2)(row, 0), None, part, None, result=ctypes.c_int)
    call(what, data, ident("H5T_NATIVE_INT_g"), memory, space, together, values, result=ctypes.c_int)


transfer("H5Dwrite", world.rank, (ctypes.c_int * n)(*(world.rank * n + i for i in range(n))))
call("H5Fflush", file, ctypes.c_int(1), result=ctypes.c_int)
world.Barrier()
other = (world.rank + 1) % world.size
read = (ctypes.c_int * n)()
transfer("H5Dread", other, read)
assert list(read) == [other * n + i for i in range(n)]
call("H5Dclose", data, result=ctypes.c_int)
call("H5Fclose", file, result=ctypes.c_int)
if world.rank == 0:
    print("hdf5 on", world.size)
