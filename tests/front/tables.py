"""tables.py OURS: the tables of virtual functions in our libmpichcxx.so.12 have the functions that those in MPICH's
have, in the same places, and its objects have the same sizes. Skipped where MPICH's is not installed."""
import os
import subprocess
import sys


def lines(*command):
    return [line.split() for line in subprocess.check_output(command, text=True).splitlines()]


def read(library):
    """The table of each class as names of functions, and the sizes of MPI's objects."""
    at, sizes, places = {}, {}, {}
    for words in lines("nm", "-DS", "--without-symbol-versions", library):
        if len(words) != 4:
            continue
        value, size, kind, name = int(words[0], 16), int(words[1], 16), words[2], words[3]
        at.setdefault(value, name)
        if name.startswith("_ZTVN3MPI"):
            places[name] = value, size // 8
        elif name.startswith("_ZN3MPI") and kind in "BDR":
            sizes[name] = size
    filled = {}
    for words in lines("readelf", "-rW", library):
        if len(words) < 4 or "RELA" in words[0]:
            continue
        if "RELATIVE" in words[2]:
            filled[int(words[0], 16)] = at.get(int(words[3], 16), "?")
        elif len(words) > 4 and words[4].startswith("_Z"):
            filled[int(words[0], 16)] = words[4].split("@")[0]
    return {name: [filled.get(start + 8 * i, "-") for i in range(n)] for name, (start, n) in places.items()}, sizes


ours, our_sizes = read(sys.argv[1])
installed = [f"{folder}/libmpichcxx.so.12" for folder in
             (f"/usr/lib/{os.uname().machine}-linux-gnu", "/usr/lib64/mpich/lib", "/usr/lib")]
theirs = next((file for file in installed if os.path.exists(file)), None)
if not theirs:
    print("skipped: MPICH's libmpichcxx.so.12 is not installed (Debian: libmpich12)")
    sys.exit(0)
tables, sizes = read(theirs)
assert len(tables) == 18 and len(sizes) > 200
wrong = [f"{name}: {ours.get(name)}, and MPICH has {table}"
         for name, table in tables.items() if ours.get(name) != table]
wrong += [f"{name}: {our_sizes.get(name)} bytes, and MPICH has {n}"
          for name, n in sizes.items() if our_sizes.get(name) != n]
print("\n".join(wrong) or f"{len(tables)} tables, {len(sizes)} objects")
sys.exit(1 if wrong else 0)
