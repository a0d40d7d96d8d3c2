# Writes an OTF2 archive of what impi-trace says on standard input: a line of JSON with the definitions, then lines of
# numbers, each of which begins with what it is:
#   T rank thread                         what follows is of this thread
#   E time function      L time function  a call begins, ends
#   S|I time peer communicator tag bytes request    a message is sent: in this call, or as a request
#   C time request                                  such a request is complete
#   Q time request                                  a receive is posted as a request
#   R|V time peer communicator tag bytes request    a message has been received: in this call, or as a request
#   B time       K time operation communicator root bytes    a collective operation begins, ends
# Peers and roots are ranks in the communicator.
import json
import sys

try:
    import otf2
    from otf2.enums import (CollectiveOp, CollectiveRoot, GroupType, LocationGroupType, LocationType, Paradigm, RegionRole)
except ImportError as e:
    sys.exit(f"python3 has no package otf2 ({e}): pip install otf2, or Debian's python3-otf2")

lines = sys.stdin
about = json.loads(next(lines))
with otf2.writer.open(sys.argv[1], timer_resolution=1_000_000_000) as trace:
    d = trace.definitions
    root = d.system_tree_node("job")
    machines, locations, writers = {}, [], {}
    for rank, machine in enumerate(about["machines"]):
        if machine not in machines:
            machines[machine] = d.system_tree_node(machine or "machine", class_name="machine", parent=root)
        group = d.location_group(f"MPI Rank {rank}", location_group_type=LocationGroupType.PROCESS,
                                 system_tree_parent=machines[machine])
        locations.append(d.location("Master thread", type=LocationType.CPU_THREAD, group=group))
    d.group("", group_type=GroupType.COMM_LOCATIONS, paradigm=Paradigm.MPI, members=locations)
    comms = [d.comm(name, d.group("", group_type=GroupType.COMM_GROUP, paradigm=Paradigm.MPI, members=members))
             for name, members in about["comms"]]
    regions = [d.region(name, region_role=getattr(RegionRole, role), paradigm=Paradigm.MPI)
               for name, role in about["regions"]]
    operations = [getattr(CollectiveOp, name, CollectiveOp.BARRIER) for name in about["operations"]]
    writer = None
    for line in lines:
        kind, *numbers = line.split()
        v = [int(n) for n in numbers]
        if kind == "E":
            writer.enter(v[0], regions[v[1]])
        elif kind == "L":
            writer.leave(v[0], regions[v[1]])
        elif kind == "S":
            writer.mpi_send(v[0], v[1], comms[v[2]], v[3], v[4])
        elif kind == "I":
            writer.mpi_isend(v[0], v[1], comms[v[2]], v[3], v[4], v[5])
        elif kind == "C":
            writer.mpi_isend_complete(v[0], v[1])
        elif kind == "Q":
            writer.mpi_irecv_request(v[0], v[1])
        elif kind == "R":
            writer.mpi_recv(v[0], v[1], comms[v[2]], v[3], v[4])
        elif kind == "V":
            writer.mpi_irecv(v[0], v[1], comms[v[2]], v[3], v[4], v[5])
        elif kind == "B":
            writer.mpi_collective_begin(v[0])
        elif kind == "K":
            at = v[3] if v[3] >= 0 else CollectiveRoot.NONE.value
            writer.mpi_collective_end(v[0], operations[v[1]], comms[v[2]], at, v[4], v[4])
        elif kind == "T":
            writer = writers.get((v[0], v[1]))
            if writer is None:
                at = locations[v[0]]
                if v[1] > 0:
                    at = d.location(f"thread {v[1]}", type=LocationType.CPU_THREAD, group=at.group)
                writer = writers[v[0], v[1]] = trace.event_writer_from_location(at)
