# The usual verbs; CMake and Go do the work (CMakeLists.txt).
PREFIX ?= /usr/local
PRESET ?= default
MATRIX ?= examples_c/data/network600.mtx
build := $(if $(filter debug,$(PRESET)),build/debug,build)

verbs := all build run test test-long test-sites quick fuzz lint portability real bench bench-cluster bench-wan guidelines tune install deb wheel clean
.PHONY: $(verbs)
all: build

compile := MAKEFLAGS=--no-print-directory cmake --build --preset $(PRESET)

.PHONY: configure
configure:
	@tools/bootstrap build
	@mkdir -p $(build)
	@cmake --preset $(PRESET) >$(build)/configure.log 2>&1 || { cat $(build)/configure.log; exit 1; }

build: configure
	@$(compile)

# The main job: a linear system on four ranks, in shared memory and again on two IMPI clients. Only what it needs is built.
run: configure
	@$(compile) --target main-job
	@tools/run-solver $(build) $(MATRIX)

# All tests, and at the end what was not tested. What they need is installed first, as the build looks for some of it;
# MPICH 5 and Open MPI 5 are among it, beside which they run.
log := $(build)/Testing/Temporary/LastTest.log

test:
	@tools/bootstrap test
	@tools/peers build/peers
	@$(MAKE) --no-print-directory build
	ctest --preset $(PRESET); code=$$?; tools/skipped $(log); exit $$code

# What takes minutes and seldom finds anything: all of 2^24 generations of a handle, simulations of 10^5 ranks, thousands
# of deaths in random programs.
test-long: build
	ctest --test-dir $(build) --output-on-failure -L '^long$$'

# Jobs that other launchers start: a Slurm of our own on this machine, and Open MPI's mpirun. What is missing is installed
# if that can be, and else the tests of it are skipped.
test-sites: build
	@tools/bootstrap sites
	@tools/peers build/peers
	ctest --test-dir $(build) --output-on-failure -L '^sites$$'

# A part of the tests that takes less than a minute where nothing else runs.
quick: configure
	@$(compile) --target quick
	ctest --test-dir $(build) --output-on-failure -j 6 -L '^quick$$'

# What make test checks of the sources without running them; nothing needs to be built.
lint:
	@tools/lint

# Programs that were compiled elsewhere with other MPIs: Debian's and PyPI's (docs/other-mpis.md).
real: build
	@tools/real $(build)/stage $(build)/real

# With clang, and for other processors, of which one stores numbers the other way round; what can be run, under qemu.
portability:
	@tools/bootstrap portability
	@tools/portability

# Every fuzz target of the Go packages, for 20 s each; make fuzz FUZZTIME=5m for longer.
fuzz:
	@tools/fuzz $(FUZZTIME)

# Beside the other MPI implementations of this machine, and the newest of them; make bench apps shm, or
# make bench GROUPS="apps shm", for a part. A group is a goal beside bench only: it stands for a word of its command.
groups := shm steps coll vec pack send bound types comm rma io tcp overlap tcp-overlap agent oversub idle start memory survive apps
ifneq ($(filter bench,$(MAKECMDGOALS)),)
chosen := $(filter-out $(verbs),$(MAKECMDGOALS))
unknown := $(filter-out $(groups),$(chosen))
ifneq ($(unknown),)
$(error bench has no group '$(unknown)'; it has $(groups))
endif
.PHONY: $(chosen)
$(chosen): bench
	@:
endif

bench: build
	@tools/peers build/peers
	go run ./bench/compare -stage $(build)/stage $(GROUPS) $(chosen)

# Between machines that this one makes out of itself (docs/sites.md); as root. make bench-cluster CLUSTER="-rate 10000 net"
# for a part. It takes about five minutes.
bench-cluster: build
	@tools/peers build/peers
	go run ./bench/compare -cluster -stage $(build)/stage $(CLUSTER)

# Clients that are far apart, on a link of this machine's own (docs/wan.md); as root. make bench-wan WAN="-rtt 80ms coll" for a part.
bench-wan: build
	go run ./bench/wan -stage $(build)/stage $(WAN)

# Calls that take longer than other calls that do the same; make guidelines GUIDELINES="-np 2 'bcast*'" for a part.
guidelines: build
	go run ./bench/guidelines -stage $(build)/stage $(GUIDELINES)

# What messages cost in this machine, for the choice of collective algorithms (docs/settings.md); make tune TUNE=file.
tune: build
	@tools/tune $(build) . $(TUNE)

install: build
	cmake --install $(build) --prefix $(PREFIX)

# Packages for others to install, in build/packages: libimpi1, libimpi-dev and impi-bin for Debian, and a wheel for pip.
deb: build
	@packaging/debian/build $(build)/stage $(build)/packages

wheel: build
	@packaging/wheel/build $(build)/stage $(build)/packages

clean:
	rm -rf build
