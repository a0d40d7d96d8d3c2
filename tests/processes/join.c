/* MPI_Comm_join makes an intercommunicator of a socket that the program has connected: of two processes, as long as the
 * socket lasts and afterwards; the socket stays the program's. */
/* ranks: 2 4 */
/* needs: MPI_Comm_join */
#include "family.h"
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

/* A connection between ranks that differ in their last bit: the even one listens on this machine. */
static int connection(void)
{
    int partner = check_rank ^ 1, s = socket(AF_INET, SOCK_STREAM, 0), fd;
    struct sockaddr_in here = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t n = sizeof here;
    if (check_rank % 2 == 1) {
        MPI_Recv(&here, sizeof here, MPI_BYTE, partner, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK_EQ(connect(s, (struct sockaddr *)&here, sizeof here), 0);
        return s;
    }
    CHECK_EQ(bind(s, (struct sockaddr *)&here, sizeof here), 0);
    CHECK_EQ(listen(s, 1), 0);
    CHECK_EQ(getsockname(s, (struct sockaddr *)&here, &n), 0);
    MPI_Send(&here, sizeof here, MPI_BYTE, partner, 0, MPI_COMM_WORLD);
    fd = accept(s, NULL, NULL);
    CHECK(fd >= 0);
    close(s);
    return fd;
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    for (int turn = 0; turn < 3; turn++) {
        MPI_Comm inter;
        int fd = connection(), size, remote, result;
        char byte = (char)('a' + turn), got = 0;
        MPI_Group world, group;
        CHECK_EQ(MPI_Comm_join(fd, &inter), MPI_SUCCESS);
        CHECK(inter != MPI_COMM_NULL);
        CHECK_EQ(MPI_Comm_size(inter, &size), MPI_SUCCESS);
        CHECK_EQ(MPI_Comm_remote_size(inter, &remote), MPI_SUCCESS);
        CHECK_EQ(size, 1);
        CHECK_EQ(remote, 1);
        CHECK_EQ(write(fd, &byte, 1), 1); /* nothing of the library's is left in the socket */
        CHECK_EQ(read(fd, &got, 1), 1);
        CHECK_EQ(got, byte);
        close(fd);
        family_talk(inter, 3, 200000);
        /* They have known each other before. */
        MPI_Comm_group(MPI_COMM_WORLD, &world);
        MPI_Comm_remote_group(inter, &group);
        int zero = 0, partner = -1;
        MPI_Group_translate_ranks(group, 1, &zero, world, &partner);
        CHECK_EQ(partner, check_rank ^ 1);
        MPI_Group_compare(group, world, &result);
        CHECK_EQ(result, MPI_UNEQUAL);
        MPI_Group_free(&world);
        MPI_Group_free(&group);
        CHECK_EQ(MPI_Comm_disconnect(&inter), MPI_SUCCESS);
    }
    return check_end();
}
