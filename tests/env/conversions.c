/* Handles as integers, of C and of Fortran, and back: predefined ones are their own numbers, others are small, equal
 * every time and different from each other. Statuses keep everything in Fortran's two forms. */
/* needs: MPI_Session_toint MPI_Message_toint MPI_Comm_toint MPI_Errhandler_toint */
/* ranks: 1 2 3 8 */
#include "../check.h"

/* A predefined handle, and some that the program has made. */
#define KIND(Type, predefined, null, ...) \
    do { \
        CHECK_EQ(MPI_##Type##_toint(predefined), (intptr_t)(predefined)); \
        CHECK_EQ(MPI_##Type##_toint(null), (intptr_t)(null)); \
        CHECK(MPI_##Type##_fromint(MPI_##Type##_toint(null)) == (null)); \
        CHECK(MPI_##Type##_fromint((int)(intptr_t)(predefined)) == (predefined)); \
        Handle_##Type made[] = {__VA_ARGS__}; \
        int n[8], count = (int)(sizeof made / sizeof *made); \
        for (int i = 0; i < count; i++) { \
            n[i] = MPI_##Type##_toint(made[i]); \
            CHECK_SAY(n[i] >= 4096, "%s is %d", #Type, n[i]); \
            CHECK_EQ(n[i], MPI_##Type##_toint(made[i])); \
            CHECK_EQ(n[i], MPI_##Type##_c2f(made[i])); \
            CHECK(MPI_##Type##_fromint(n[i]) == made[i]); \
            CHECK(MPI_##Type##_f2c(n[i]) == made[i]); \
            for (int k = 0; k < i; k++) CHECK(n[i] != n[k]); \
        } \
    } while (0)

typedef MPI_Comm Handle_Comm;
typedef MPI_Group Handle_Group;
typedef MPI_Datatype Handle_Type;
typedef MPI_Op Handle_Op;
typedef MPI_Info Handle_Info;
typedef MPI_Errhandler Handle_Errhandler;
typedef MPI_Request Handle_Request;
typedef MPI_Message Handle_Message;
typedef MPI_Session Handle_Session;

static void combine(void *in, void *inout, int *n, MPI_Datatype *t) { (void)in, (void)inout, (void)n, (void)t; }
static void handle(MPI_Comm *c, int *code, ...) { (void)c, (void)code; }

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    MPI_Comm c[2];
    MPI_Group g[2];
    MPI_Datatype t[2];
    MPI_Op o[2];
    MPI_Info in[2];
    MPI_Errhandler h[2];
    MPI_Request r[2];
    MPI_Message m[2];
    MPI_Session s[2];
    int x[2] = {1, 2}, y[2] = {0, 0};
    for (int i = 0; i < 2; i++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &c[i]);
        MPI_Comm_group(c[i], &g[i]);
        MPI_Type_contiguous(2 + i, MPI_INT, &t[i]);
        MPI_Op_create(combine, 1, &o[i]);
        MPI_Info_create(&in[i]);
        MPI_Comm_create_errhandler(handle, &h[i]);
        MPI_Irecv(&y[i], 1, MPI_INT, check_rank, 5 + i, MPI_COMM_WORLD, &r[i]);
        MPI_Send(&x[i], 1, MPI_INT, check_rank, 15 + i, MPI_COMM_WORLD);
        MPI_Mprobe(check_rank, 15 + i, MPI_COMM_WORLD, &m[i], MPI_STATUS_IGNORE);
        MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &s[i]);
    }
    KIND(Comm, MPI_COMM_WORLD, MPI_COMM_NULL, c[0], c[1]);
    KIND(Group, MPI_GROUP_EMPTY, MPI_GROUP_NULL, g[0], g[1]);
    KIND(Type, MPI_DOUBLE, MPI_DATATYPE_NULL, t[0], t[1]);
    KIND(Op, MPI_SUM, MPI_OP_NULL, o[0], o[1]);
    KIND(Info, MPI_INFO_ENV, MPI_INFO_NULL, in[0], in[1]);
    KIND(Errhandler, MPI_ERRORS_RETURN, MPI_ERRHANDLER_NULL, h[0], h[1]);
    KIND(Request, MPI_REQUEST_NULL, MPI_REQUEST_NULL, r[0], r[1]);
    KIND(Message, MPI_MESSAGE_NO_PROC, MPI_MESSAGE_NULL, m[0], m[1]);
    KIND(Session, MPI_SESSION_NULL, MPI_SESSION_NULL, s[0], s[1]);

    /* What has been there and back is as good as before. */
    MPI_Message back = MPI_Message_f2c(MPI_Message_c2f(m[1]));
    MPI_Status st, two;
    CHECK_EQ(MPI_Mrecv(&y[0], 1, MPI_INT, &back, &st), MPI_SUCCESS);
    CHECK_EQ(y[0], 2);
    CHECK_EQ(MPI_Mrecv(&y[0], 1, MPI_INT, &m[0], MPI_STATUS_IGNORE), MPI_SUCCESS);
    MPI_Fint f[MPI_F_STATUS_SIZE];
    MPI_F08_status f08, other;
    int n;
    CHECK_EQ(MPI_Status_c2f(&st, f), MPI_SUCCESS);
    CHECK_EQ(f[MPI_F_SOURCE], check_rank);
    CHECK_EQ(f[MPI_F_TAG], 16);
    CHECK_EQ(MPI_Status_f2f08(f, &f08), MPI_SUCCESS);
    CHECK_EQ(f08.MPI_TAG, 16);
    CHECK_EQ(MPI_Status_f082c(&f08, &two), MPI_SUCCESS);
    CHECK_EQ(MPI_Get_count(&two, MPI_INT, &n), MPI_SUCCESS);
    CHECK_EQ(n, 1);
    CHECK_EQ(MPI_Status_c2f08(&two, &other), MPI_SUCCESS);
    CHECK_EQ(MPI_Status_f082f(&other, f), MPI_SUCCESS);
    CHECK_EQ(MPI_Status_f2c(f, &st), MPI_SUCCESS);
    CHECK_EQ(st.MPI_TAG, 16);

    for (int i = 0; i < 2; i++) {
        MPI_Send(&x[i], 1, MPI_INT, check_rank, 5 + i, MPI_COMM_WORLD);
        MPI_Wait(&r[i], MPI_STATUS_IGNORE);
        int old = MPI_Info_toint(in[i]);
        MPI_Comm_free(&c[i]);
        MPI_Group_free(&g[i]);
        MPI_Type_free(&t[i]);
        MPI_Op_free(&o[i]);
        MPI_Info_free(&in[i]);
        MPI_Errhandler_free(&h[i]);
        MPI_Session_finalize(&s[i]);
        CHECK(MPI_Info_fromint(old) == MPI_INFO_NULL);
    }
    return check_end();
}
