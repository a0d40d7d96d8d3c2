#!/bin/sh
# The recipes of Spack and of container files agree with the sources: what they name is there.
set -eu
source=$3
packaging=$source/packaging
# Files that the container file copies from the sources, and the target and the preset that it builds.
sed -n 's/^COPY \([^-].*\) [^ ]*$/\1/p' "$packaging/Containerfile" | tr ' ' '\n' | while read -r file; do
    [ -e "$source/$file" ] || { echo "the container file copies $file"; exit 1; }
done
grep -q 'cmake --preset default && cmake --build build --target stage ' "$packaging/Containerfile"
grep -q '"name": "default"' "$source/CMakePresets.json"
grep -q '^add_custom_target(stage ' "$source/cmake/Stage.cmake"
go=$(sed -n 's/^go \([0-9]*\.[0-9]*\).*/\1/p' "$source/go.mod")
grep -q "golang:$go-" "$packaging/Containerfile"
grep -q "depends_on(\"go@$go:\"" "$packaging/spack/package.py"
command -v python3 >/dev/null || { echo "skipped: there is no python3 for the recipe of Spack"; exit 0; }
python3 - "$packaging/spack/package.py" <<'PYTHON'
import os.path, sys, types

said = []
package = types.ModuleType("spack.package")
for name in "license version provides depends_on conflicts".split():
    setattr(package, name, lambda *words, name=name, **more: said.append((name, words)))
package.CMakePackage, package.join_path = object, os.path.join
package.find_libraries = package.find_headers = lambda *words, **more: words
sys.modules["spack"], sys.modules["spack.package"] = types.ModuleType("spack"), package
recipe = {}
exec(compile(open(sys.argv[1]).read(), sys.argv[1], "exec"), recipe)
assert ("provides", ("mpi@:5.0",)) in said, said
made = recipe["Libimpi"]()
prefix = types.SimpleNamespace(bin="/p/bin", lib="/p/lib", include="/p/include")
query = types.SimpleNamespace(extra_parameters=[])
made.prefix, made.spec, made.stage = prefix, types.SimpleNamespace(last_query=query), types.SimpleNamespace(path="/s")
variables = {}
env = types.SimpleNamespace(set=lambda name, value: variables.update({name: value}))
made.setup_build_environment(env)
made.setup_dependent_build_environment(env, None)
made.setup_dependent_package(None, None)
assert variables["MPICC"] == made.spec.mpicc == "/p/bin/mpicc", variables
assert variables["MPIFC"] == made.spec.mpifc == "/p/bin/mpifort" and variables["IMPI_FC"], variables
assert made.libs == (["libmpi_abi"],), made.libs
query.extra_parameters = ["fortran"]
assert made.libs == (["libmpifort_abi", "libmpi_abi"],), made.libs
assert made.headers and made.build_targets == ["stage"]
PYTHON
