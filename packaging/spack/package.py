# A recipe for Spack. In a repository of one's own it stands at packages/libimpi/package.py:
#
#   spack repo create mine && mkdir -p mine/packages/libimpi && cp package.py mine/packages/libimpi
#   spack repo add mine && spack install libimpi
import os

from spack.package import *


class Libimpi(CMakePackage):
    """MPI with the standard ABI of MPI 5.0: engine in Go, face in C, IMPI (Interoperable MPI 0.0) between clusters.
    It is not Intel MPI."""

    homepage = "https://github.com/libimpi/libimpi"
    git = "https://github.com/libimpi/libimpi.git"

    license("MIT")

    version("main", branch="main")

    provides("mpi@:5.0")

    depends_on("c", type="build")
    depends_on("go@1.26:", type="build")
    depends_on("cmake@3.20:", type="build")
    depends_on("git", type="build", when="@main")
    depends_on("openssh", type="run")

    conflicts("platform=darwin", msg="libimpi runs on Linux")
    conflicts("platform=windows", msg="libimpi runs on Linux")

    build_targets = ["stage"]

    def setup_build_environment(self, env):
        # The go command keeps what it has compiled and fetched within the build.
        env.set("GOCACHE", join_path(self.stage.path, "go-cache"))
        env.set("GOMODCACHE", join_path(self.stage.path, "go-modules"))
        env.set("GOFLAGS", "-modcacherw")

    def setup_run_environment(self, env):
        env.set("MPI_HOME", self.prefix)
        env.set("MPICC", join_path(self.prefix.bin, "mpicc"))
        env.set("MPICXX", join_path(self.prefix.bin, "mpicxx"))
        for name, wrapper in (("MPIFC", "mpifort"), ("MPIF77", "mpif77"), ("MPIF90", "mpif90")):
            env.set(name, join_path(self.prefix.bin, wrapper))

    def setup_dependent_build_environment(self, env, dependent_spec):
        self.setup_run_environment(env)
        # The wrappers run the compilers that the dependent package is built with.
        env.set("IMPI_CC", os.environ.get("SPACK_CC", "cc"))
        env.set("IMPI_CXX", os.environ.get("SPACK_CXX", "c++"))
        env.set("IMPI_FC", os.environ.get("SPACK_FC", "gfortran"))

    def setup_dependent_package(self, module, dependent_spec):
        self.spec.mpicc = join_path(self.prefix.bin, "mpicc")
        self.spec.mpicxx = join_path(self.prefix.bin, "mpicxx")
        self.spec.mpifc = join_path(self.prefix.bin, "mpifort")
        self.spec.mpif77 = join_path(self.prefix.bin, "mpif77")

    @property
    def libs(self):
        fortran = {"fortran", "f77", "f90"} & set(self.spec.last_query.extra_parameters)
        names = ["libmpifort_abi", "libmpi_abi"] if fortran else ["libmpi_abi"]
        return find_libraries(names, root=self.prefix.lib, shared=True)

    @property
    def headers(self):
        return find_headers("mpi", root=self.prefix.include)
