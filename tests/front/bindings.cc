/* ranks: 1 2 3 4 */
// The C++ bindings of MPI-2, as programs use them that were compiled with the headers of Open MPI 4 or MPICH.
#include <mpi.h>
#include <cstdio>
#include <cstdlib>
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

#ifndef MPICH_VERSION // there errors are not thrown (docs/other-mpis.md)
    bool caught = false;
    MPI::COMM_WORLD.Set_errhandler(MPI::ERRORS_THROW_EXCEPTIONS);
    try {
        MPI::COMM_WORLD.Send(&n, 1, MPI::INT, 1000, 1);
    } catch (MPI::Exception e) {
        caught = e.Get_error_class() == MPI::ERR_RANK && e.Get_error_string()[0];
    }
    CHECK(caught);
#endif
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
#ifndef MPICH_VERSION
    files(rank);
#endif
    errors();
    MPI::COMM_WORLD.Barrier();
    MPI::Finalize();
    return 0;
}
