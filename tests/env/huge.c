/* Messages of more than 4 GiB arrive whole, of bytes and of a datatype with a large count; and of more than 2 GiB in
 * half a million blocks apart, at both ends. */
/* ranks: 2 */
/* clients: none */
#include "../check.h"
#include <sys/mman.h>
#include <unistd.h>

#define BYTES ((((MPI_Count)1) << 32) + 5)

/* Places that are looked at: around the ends and around 4 GiB. The rest is zero. */
static const long long marks[] = {0, 1, (1LL << 31) - 1, 1LL << 31, (1LL << 32) - 1, 1LL << 32, (1LL << 32) + 4};
enum { MARKS = sizeof marks / sizeof *marks };

/* Blocks of 1 MiB, one after the other with room for as much between them every GiB, then 5 bytes. */
static MPI_Datatype layout(void)
{
    MPI_Datatype gib, all, type;
    MPI_Type_contiguous_c((MPI_Count)1 << 30, MPI_BYTE, &gib);
    MPI_Type_create_hvector_c(4, 1, ((MPI_Count)1 << 30) + (1 << 20), gib, &all);
    MPI_Count lengths[2] = {1, 5}, at[2] = {0, 4 * (((MPI_Count)1 << 30) + (1 << 20))};
    MPI_Datatype types[2] = {all, MPI_BYTE};
    MPI_Type_create_struct_c(2, lengths, at, types, &type);
    MPI_Type_commit(&type);
    MPI_Type_free(&gib);
    MPI_Type_free(&all);
    return type;
}

/* Where byte n of the message is in that layout. */
static size_t spread(long long n) { return (size_t)n + (size_t)(n >> 30 << 20); }

/* Blocks of 4 KiB, every other of them, more than 2^31 bytes in all: the marks below that, and where they are. */
enum { BLOCK = 4096, BLOCKS = (1 << 19) + 1, SPARSE_MARKS = 4 };

static size_t sparse(long long n) { return (size_t)(n / BLOCK * 2 * BLOCK + n % BLOCK); }

static void every_other_block(unsigned char *buf)
{
    MPI_Datatype type;
    MPI_Count got;
    MPI_Status status;
    MPI_Type_vector(BLOCKS, BLOCK, 2 * BLOCK, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    for (int i = 0; i < SPARSE_MARKS; i++) buf[sparse(marks[i])] = check_rank == 0 ? (unsigned char)(100 + i) : 0;
    if (check_rank == 0) {
        MPI_Send(buf, 1, type, 1, 2, MPI_COMM_WORLD);
    } else {
        MPI_Recv(buf, 1, type, 0, 2, MPI_COMM_WORLD, &status);
        MPI_Get_count_c(&status, MPI_BYTE, &got);
        CHECK(got == (MPI_Count)BLOCKS * BLOCK);
        for (int i = 0; i < SPARSE_MARKS; i++) CHECK_EQ(buf[sparse(marks[i])], 100 + i);
    }
    MPI_Type_free(&type);
}

/* Room for that much address space with little memory behind it: the same pages again and again, but for those
 * around the places that are looked at. NULL if the system refuses. */
static unsigned char *thin(size_t room)
{
    enum { CHUNK = 32 << 20, PAGE = 4096 };
    int fd = memfd_create("thin", MFD_CLOEXEC);
    if (fd < 0 || ftruncate(fd, CHUNK) != 0) return NULL;
    unsigned char *buf = mmap(NULL, room, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (buf == MAP_FAILED) return NULL;
    for (size_t at = 0; at < room; at += CHUNK) {
        size_t n = room - at < CHUNK ? room - at : CHUNK;
        if (mmap(buf + at, n, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) == MAP_FAILED) return NULL;
    }
    close(fd);
    for (int i = 0; i < MARKS; i++)
        for (int where = 0; where < 3; where++) { /* in the message, and in the two layouts */
            size_t at = (where == 0 ? (size_t)marks[i] : where == 1 ? spread(marks[i])
                : sparse(marks[i])) / PAGE * PAGE;
            size_t from = at ? at - PAGE : 0;
            if (where == 2 && i >= SPARSE_MARKS) continue;
            if (mmap(buf + from, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
                     0) == MAP_FAILED) return NULL;
        }
    return buf;
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    size_t room = (spread(BYTES) + 3 * 4096) / 4096 * 4096;
    unsigned char *buf = thin(room);
    int here = buf != NULL, all;
    MPI_Allreduce(&here, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    CHECK(all);

    MPI_Datatype type = layout();
    MPI_Count size, got;
    MPI_Status status;
    MPI_Type_size_c(type, &size);
    CHECK(size == BYTES);
    if (check_rank == 0) {
        for (int i = 0; i < MARKS; i++) buf[marks[i]] = (unsigned char)(i + 1);
        MPI_Send_c(buf, BYTES, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
    } else {
        MPI_Recv_c(buf, 1, type, 0, 1, MPI_COMM_WORLD, &status);
        MPI_Get_count_c(&status, MPI_BYTE, &got);
        CHECK_SAY(got == BYTES, "%lld bytes", (long long)got);
        MPI_Get_elements_c(&status, type, &got);
        CHECK_SAY(got == BYTES, "%lld elements", (long long)got);
        for (int i = 0; i < MARKS; i++) CHECK_EQ(buf[spread(marks[i])], i + 1);
        CHECK_EQ(buf[spread(marks[2]) - 1], 0);
    }
    MPI_Type_free(&type);
    every_other_block(buf);
    munmap(buf, room);
    return check_end();
}
