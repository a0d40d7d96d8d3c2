/* ranks: 1 2 3 4 */
// The C++ bindings of MPI-2, as programs use them that were compiled with the headers of Open MPI 4 or MPICH.
#include <mpi.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <unistd.h>
#include <vector>

#define CHECK(fact) \
    do \
        if (!(fact)) { \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #fact); \
            MPI::COMM_WORLD.Abort(1); \
        } \
    while (0)

static void longest(const void *in, void *inout, int n, const MPI::Datatype &type)
{
    CHECK(type == MPI::INT);
    for (int i = 0; i < n; i++)
        if (static_cast<const int *>(in)[i] > static_cast<int *>(inout)[i])
            static_cast<int *>(inout)[i] = static_cast<const int *>(in)[i];
}
static void shortest(const void *in, void *inout, int n, const MPI::Datatype &)
{
    for (int i = 0; i < n; i++)
        if (static_cast<const int *>(in)[i] < static_cast<int *>(inout)[i])
            static_cast<int *>(inout)[i] = static_cast<const int *>(in)[i];
}

static int handled;
static void handler(MPI::Comm &comm, int *code, ...)
{
    handled = *code;
    CHECK(comm.Get_size() == MPI::COMM_WORLD.Get_size());
}

static int copies, deletions;
static int copy(const MPI::Comm &old, int, void *extra, void *in, void *out, bool &flag)
{
    CHECK(old.Get_rank() == MPI::COMM_WORLD.Get_rank() && extra == &copies);
    *static_cast<void **>(out) = in;
    flag = true;
    return copies++, MPI::SUCCESS;
}
static int remove(MPI::Comm &, int, void *, void *) { return deletions++, MPI::SUCCESS; }

static int query(void *extra, MPI::Status &status)
{
    status.Set_elements(MPI::BYTE, *static_cast<int *>(extra));
    status.Set_cancelled(false);
    status.Set_source(MPI::UNDEFINED);
    return MPI::SUCCESS;
}
static int freed;
static int release(void *) { return freed++, MPI::SUCCESS; }
static int cancel(void *, bool) { return MPI::SUCCESS; }

static void messages(int rank, int size)
{
    int to = (rank + 1) % size, from = (rank + size - 1) % size, got = -1;
    MPI::Status status;
    MPI::Request request = MPI::COMM_WORLD.Isend(&rank, 1, MPI::INT, to, 5);
    MPI::COMM_WORLD.Recv(&got, 1, MPI::INT, MPI::ANY_SOURCE, 5, status);
    request.Wait();
    CHECK(got == from && status.Get_source() == from && status.Get_count(MPI::INT) == 1);
    CHECK(request == MPI::REQUEST_NULL);

    MPI::Datatype pair = MPI::DOUBLE.Create_contiguous(2);
    pair.Commit();
    CHECK(pair.Get_size() == 2 * static_cast<int>(sizeof(double)));
    double mine[2] = {rank + 0.5, rank + 0.25}, others[2];
    MPI::COMM_WORLD.Sendrecv(mine, 1, pair, to, 6, others, 1, pair, from, 6);
    CHECK(others[0] == from + 0.5 && others[1] == from + 0.25);
    pair.Free();
    CHECK(pair == MPI::DATATYPE_NULL);
}

static void collectives(int rank, int size)
{
    int sum, best, least;
    MPI::COMM_WORLD.Allreduce(&rank, &sum, 1, MPI::INT, MPI::SUM);
    CHECK(sum == size * (size - 1) / 2);
    MPI::Op first, second;
    first.Init(longest, true);
    second.Init(shortest, true);
    MPI::COMM_WORLD.Allreduce(&rank, &best, 1, MPI::INT, first);
    MPI::COMM_WORLD.Allreduce(&rank, &least, 1, MPI::INT, second);
    CHECK(best == size - 1 && least == 0);
    first.Free();
    second.Free();
    std::vector<int> all(size);
    MPI::COMM_WORLD.Allgather(&rank, 1, MPI::INT, all.data(), 1, MPI::INT);
    for (int i = 0; i < size; i++) CHECK(all[i] == i);
    MPI::Intracomm half = MPI::COMM_WORLD.Split(rank % 2, rank);
    CHECK(half.Get_size() == (size + 1 - rank % 2) / 2);
    half.Free();
    int dims[1] = {size};
    bool periods[1] = {true};
    MPI::Cartcomm ring = MPI::COMM_WORLD.Create_cart(1, dims, periods, false);
    int source, dest;
    ring.Shift(0, 1, source, dest);
    CHECK(ring.Get_topology() == MPI::CART && dest == (rank + 1) % size);
    ring.Free();
}

static void callbacks()
{
    int key = MPI::Comm::Create_keyval(copy, remove, &copies);
    MPI::COMM_WORLD.Set_attr(key, &copies);
    MPI::Intracomm twin = MPI::COMM_WORLD.Dup();
    void *value;
    CHECK(copies == 1 && twin.Get_attr(key, &value) && value == &copies);
    twin.Free();
    CHECK(deletions == 1);
    MPI::COMM_WORLD.Delete_attr(key);
    MPI::Comm::Free_keyval(key);

    int n = 12;
    MPI::Grequest any, request = any.Start(query, release, cancel, &n); // static in one header only
    request.Complete();
    MPI::Status status;
    request.Wait(status);
    CHECK(status.Get_elements(MPI::BYTE) == 12 && freed == 1);
}

static void errors()
{
    int n = 0;
    MPI::Errhandler ours = MPI::Comm::Create_errhandler(handler);
    MPI::COMM_WORLD.Set_errhandler(ours);
    MPI::COMM_WORLD.Send(&n, 1, MPI::INT, 1000, 1);
    CHECK(MPI::Get_error_class(handled) == MPI::ERR_RANK);
    ours.Free();

    bool caught = false;
    MPI::COMM_WORLD.Set_errhandler(MPI::ERRORS_THROW_EXCEPTIONS);
    try {
        MPI::COMM_WORLD.Send(&n, 1, MPI::INT, 1000, 1);
    } catch (MPI::Exception e) {
        caught = e.Get_error_class() == MPI::ERR_RANK && e.Get_error_string()[0];
    }
    CHECK(caught);
    MPI::COMM_WORLD.Set_errhandler(MPI::ERRORS_ARE_FATAL);
}

static void objects(int rank, int size)
{
    MPI::Group group = MPI::COMM_WORLD.Get_group();
    CHECK(group.Get_size() == size && group.Get_rank() == rank);
    group.Free();
    MPI::Info info = MPI::Info::Create();
    info.Set("key", "value");
    CHECK(info.Get_nkeys() == 1);
    info.Free();
    int place = -1;
    MPI::Win win = MPI::Win::Create(&place, sizeof place, sizeof place, MPI::INFO_NULL, MPI::COMM_WORLD);
    win.Fence(0);
    win.Put(&rank, 1, MPI::INT, (rank + 1) % size, 0, 1, MPI::INT);
    win.Fence(0);
    CHECK(place == (rank + size - 1) % size);
    win.Free();
    CHECK(win == MPI::WIN_NULL);
}

// What is had by reference is of a class that the compiler does not know: such calls go by the table of the object's
// class, which is the library's with MPICH's headers.
static void __attribute__((noinline)) by_reference(MPI::Comm &comm, const MPI::Datatype &type, const MPI::Op &op)
{
    int rank = comm.Get_rank(), size = comm.Get_size(), sum = 0, type_size = type.Get_size();
    comm.Allreduce(&rank, &sum, 1, type, op);
    CHECK(sum == size * (size - 1) / 2 && op.Is_commutative() && type_size == sizeof(int) && !comm.Is_inter());
    std::vector<int> out(size, rank), in(size), ones(size, 1), places(size);
    std::vector<MPI::Datatype> types(size, type);
    for (int i = 0; i < size; i++) places[i] = i * static_cast<int>(sizeof(int));
    comm.Alltoallw(out.data(), ones.data(), places.data(), types.data(), in.data(), ones.data(), places.data(),
                   types.data());
    for (int i = 0; i < size; i++) CHECK(in[i] == i);
    const MPI::Group &group = comm.Get_group();
    CHECK(group.Get_size() == size);
    const_cast<MPI::Group &>(group).Free();

    const MPI::Prequest &receive = comm.Recv_init(&sum, 1, type, MPI::ANY_SOURCE, 9);
    MPI::Prequest &request = const_cast<MPI::Prequest &>(receive);
    MPI::Status status, &about = status;
    request.Start();
    comm.Send(&rank, 1, type, (rank + 1) % size, 9);
    request.Wait(about);
    CHECK(sum == (rank + size - 1) % size && about.Get_count(type) == 1 && !about.Is_cancelled());
    request.Free();

    MPI::Comm &twin = comm.Clone();
    CHECK(MPI::Comm::Compare(twin, comm) == MPI::CONGRUENT && twin.Get_topology() == comm.Get_topology());
    char name[MPI::MAX_OBJECT_NAME];
    int length = 0;
    twin.Set_name("twin");
    twin.Get_name(name, length);
    CHECK(length == 4);
    twin.Free();
    delete &twin;
    const MPI::Datatype &pairs = type.Create_vector(2, 1, 2);
    int n[3], addresses, types_in, combiner;
    MPI::Aint none[1];
    MPI::Datatype of[1];
    pairs.Get_envelope(n[0], addresses, types_in, combiner);
    CHECK(n[0] == 3 && addresses == 0 && types_in == 1 && combiner == MPI::COMBINER_VECTOR);
    pairs.Get_contents(3, 0, 1, n, none, of);
    CHECK(n[0] == 2 && n[1] == 1 && n[2] == 2 && of[0] == type);
    const_cast<MPI::Datatype &>(pairs).Free();
    type.Get_name(name, length);
    CHECK(length == 7 && !strcmp(name, "MPI_INT"));
}

static void __attribute__((noinline)) grids(MPI::Intracomm &comm)
{
    int size = comm.Get_size(), dims[2] = {size, 1}, coords[2], got[2], rank;
    bool periods[2] = {true, false}, around[2] = {false, true}, remain[2] = {true, false};
    const MPI::Cartcomm &grid = comm.Create_cart(2, dims, periods, false);
    grid.Get_topo(2, got, around, coords);
    CHECK(grid.Get_dim() == 2 && got[0] == size && around[0] && !around[1]);
    CHECK(grid.Get_cart_rank(coords) == grid.Get_rank() && grid.Map(2, dims, periods) >= 0);
    const MPI::Cartcomm &column = grid.Sub(remain);
    CHECK(column.Get_dim() == 1 && column.Get_size() == size);
    MPI::Comm &same = grid.Clone();
    CHECK(same.Get_topology() == MPI::CART);
    same.Free();
    delete &same;
    const_cast<MPI::Cartcomm &>(column).Free();
    const_cast<MPI::Cartcomm &>(grid).Free();

    std::vector<int> index(size), edges(size);
    for (int i = 0; i < size; i++) index[i] = i + 1, edges[i] = (i + 1) % size;
    const MPI::Graphcomm &ring = comm.Create_graph(size, index.data(), edges.data(), false);
    rank = ring.Get_rank();
    ring.Get_neighbors(rank, 1, got);
    CHECK(ring.Get_neighbors_count(rank) == 1 && got[0] == (rank + 1) % size);
    const_cast<MPI::Graphcomm &>(ring).Free();
}

static void __attribute__((noinline)) file_and_window(MPI::File &file, MPI::Win &win, const MPI::Info &info)
{
    int out = 7, in = 0;
    MPI::Status status;
    CHECK(file.Get_amode() & MPI::MODE_RDWR && info.Get_nkeys() == 1);
    file.Set_view(0, MPI::INT, MPI::INT, "native", info);
    file.Write(&out, 1, MPI::INT, status);
    file.Seek(0, MPI_SEEK_SET); // Open MPI's MPI::SEEK_SET is that of stdio.h
    file.Read(&in, 1, MPI::INT);
    CHECK(in == 7 && file.Get_position() == 1 && file.Get_size() == sizeof in);
    file.Close();
    win.Lock(MPI::LOCK_EXCLUSIVE, 0, 0);
    win.Put(&out, 1, MPI::INT, 0, 0, 1, MPI::INT);
    win.Unlock(0);
    win.Free();
    CHECK(win == MPI::WIN_NULL && file == MPI::FILE_NULL);
}

static void tables()
{
    by_reference(MPI::COMM_WORLD, MPI::INT, MPI::SUM);
    grids(MPI::COMM_WORLD);
    char path[] = "tables.XXXXXX";
    int made = mkstemp(path), place = 0;
    CHECK(made >= 0);
    close(made);
    MPI::Info info = MPI::Info::Create();
    info.Set("key", "value");
    MPI::File file = MPI::File::Open(MPI::COMM_SELF, path, MPI::MODE_RDWR | MPI::MODE_DELETE_ON_CLOSE, info);
    MPI::Win win = MPI::Win::Create(&place, sizeof place, sizeof place, info, MPI::COMM_SELF);
    file_and_window(file, win, info);
    CHECK(place == 7);
    info.Free();
}

#ifndef MPICH_VERSION // which has no MPI::Register_datarep
// A representation of the program's: integers are stored negated.
static void negate(void *user, MPI::Datatype &type, int n, void *file, MPI::Offset position, void *extra)
{
    CHECK(type == MPI::INT && extra == &freed);
    for (int i = 0; i < n; i++) static_cast<int *>(file)[i] = -static_cast<int *>(user)[position + i];
}
static void restore(void *user, MPI::Datatype &type, int n, void *file, MPI::Offset position, void *extra)
{
    CHECK(type == MPI::INT && extra == &freed);
    for (int i = 0; i < n; i++) static_cast<int *>(user)[position + i] = -static_cast<int *>(file)[i];
}
static void extent(const MPI::Datatype &type, MPI::Aint &bytes, void *extra)
{
    CHECK(type == MPI::INT && extra == &freed);
    bytes = sizeof(int);
}

static void files(int rank)
{
    int out[3] = {rank + 1, 2, 3}, in[3] = {0, 0, 0}, raw[3] = {0, 0, 0};
    char path[] = "bindings.XXXXXX";
    int made = mkstemp(path);
    CHECK(made >= 0);
    close(made);
    MPI::Register_datarep("negated", restore, negate, extent, &freed);
    MPI::File file = MPI::File::Open(MPI::COMM_SELF, path, MPI::MODE_RDWR | MPI::MODE_DELETE_ON_CLOSE, MPI::INFO_NULL);
    file.Set_view(0, MPI::INT, MPI::INT, "negated", MPI::INFO_NULL);
    file.Write_at(0, out, 3, MPI::INT);
    file.Read_at(0, in, 3, MPI::INT);
    file.Set_view(0, MPI::INT, MPI::INT, "native", MPI::INFO_NULL);
    file.Read_at(0, raw, 3, MPI::INT);
    for (int i = 0; i < 3; i++) CHECK(in[i] == out[i] && raw[i] == -out[i]);
    file.Close();
}
#endif

int main(int argc, char **argv)
{
    MPI::Init(argc, argv);
    int rank = MPI::COMM_WORLD.Get_rank(), size = MPI::COMM_WORLD.Get_size();
    messages(rank, size);
    collectives(rank, size);
    callbacks();
    objects(rank, size);
    tables();
#ifndef MPICH_VERSION
    files(rank);
#endif
    errors();
    MPI::COMM_WORLD.Barrier();
    MPI::Finalize();
    return 0;
}
