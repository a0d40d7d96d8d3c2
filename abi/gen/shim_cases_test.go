package main

// conversions are the cases that are not one call, one check.
const conversions = `
static long long written;
static void write_third(void) { *(MPI_Count *)args[2] = written; }
static void add_position(void) { *(MPI_Count *)args[5] += written; }

static void outputs(void)
{
    int count = -7;
    MPI_Count large = -7;
    reset(); effect = write_third;
    written = 42;
    CHECK(MPI_Get_count(MPI_STATUS_IGNORE, MPI_INT, &count) == 0 && count == 42);
    written = 2147483647;
    CHECK(MPI_Get_count(MPI_STATUS_IGNORE, MPI_INT, &count) == 0 && count == 2147483647);
    written = 2147483648LL;
    CHECK(MPI_Get_count(MPI_STATUS_IGNORE, MPI_INT, &count) == 0 && count == MPI_UNDEFINED);
    written = MPI_UNDEFINED;
    count = 0;
    CHECK(MPI_Get_count(MPI_STATUS_IGNORE, MPI_INT, &count) == 0 && count == MPI_UNDEFINED);
    written = 2147483648LL;
    CHECK(MPI_Get_count_c(MPI_STATUS_IGNORE, MPI_INT, &large) == 0 && large == written);
    CHECK(MPI_Get_elements_x(MPI_STATUS_IGNORE, MPI_INT, &large) == 0 && is(called, "impi_Get_elements"));
    result = 15; count = -7;
    CHECK(MPI_Get_count(MPI_STATUS_IGNORE, MPI_INT, &count) == 1015 && raised == 15 && count == -7);
    reset();
    CHECK(MPI_Get_count(MPI_STATUS_IGNORE, MPI_INT, 0) == 0 && args[2] == 0);
}

static void positions(void)
{
    int position = 100;
    MPI_Count large = 1LL << 40;
    reset(); effect = add_position; written = 8;
    CHECK(MPI_Pack(0, 1, MPI_INT, 0, 200, &position, MPI_COMM_WORLD) == 0 && position == 108 && args[7] == 0);
    CHECK(MPI_Pack_c(0, 1, MPI_INT, 0, 200, &large, MPI_COMM_WORLD) == 0 && large == (1LL << 40) + 8 && args[7] == 1);
    result = 15;
    CHECK(MPI_Pack(0, 1, MPI_INT, 0, 200, &position, MPI_COMM_WORLD) == 1015 && position == 108);
    reset();
    CHECK(MPI_Pack(0, 1, MPI_INT, 0, 200, 0, MPI_COMM_WORLD) == 0 && args[5] == 0);
}

static void values(void)
{
    reset(); result = 1LL << 40;
    CHECK(MPI_Comm_fromint(3) == (MPI_Comm)(1LL << 40));
    CHECK(MPI_Type_f2c(3) == (MPI_Datatype)(1LL << 40));
    CHECK(MPI_Aint_add(1, 2) == 1LL << 40);
    result = 9;
    CHECK(MPI_Comm_toint(MPI_COMM_WORLD) == 9 && MPI_Comm_c2f(MPI_COMM_WORLD) == 9 && raised == 0);
    CHECK(MPI_Wtime() == 9.0);
}

static void errors(void)
{
    reset(); result = 5;
    CHECK(MPI_Send(MPI_BOTTOM, 1, MPI_INT, 0, 0, MPI_COMM_WORLD) == 1005 && raised == 5);
    reset(); result = 1003;
    CHECK(MPI_T_cvar_get_num(0) == 1003 && raised == 0);
}

/* Events are told when a call leaves Go, before its error is raised, and never by a call of the tool interface. */
static void events(void)
{
    reset();
    CHECK(MPI_Barrier(MPI_COMM_WORLD) == 0 && delivered == 0);
    impi_events = 1;
    CHECK(MPI_Barrier(MPI_COMM_WORLD) == 0 && delivered == 1);
    reset(); result = 5;
    CHECK(MPI_Barrier(MPI_COMM_WORLD) == 1005 && delivered == 1);
    reset();
    CHECK(MPI_T_cvar_get_num(0) == 0 && delivered == 0);
    impi_events = 0;
    intercepted = 1;
}

static void forked(void)
{
    int count = -7;
    reset(); impi_mode = IMPI_FORKED;
    CHECK(MPI_Send(MPI_BOTTOM, 1, MPI_INT, 0, 0, MPI_COMM_WORLD) == 2000 && is(told, "MPI_Send") && !called);
    CHECK(MPI_Get_count(MPI_STATUS_IGNORE, MPI_INT, &count) == 2000 && count == -7 && !called);
    CHECK(MPI_Comm_fromint(3) == MPI_COMM_NULL && is(told, "MPI_Comm_fromint") && !called);
    CHECK(MPI_T_finalize() == 2000 && MPI_Comm_toint(MPI_COMM_WORLD) == 0 && MPI_Aint_diff(1, 2) == 0 && !called);
    impi_mode = 0;
}

/* An observed call is told of before and after, with its arguments, and made once; so is one that it makes by a
 * callback, and an error knows the arguments. Questions and tools' calls are not told of. */
static void calls_again(void)
{
    seen_before = -1; effect = 0;
    CHECK(MPI_Barrier(MPI_COMM_SELF) == 0 && seen_before == IMPI_CALL_Barrier);
}

static void observed(void)
{
    int flag;
    reset(); impi_mode = IMPI_OBSERVED;
    CHECK(MPI_Send(&slot, -3, MPI_INT, 4, 5, MPI_COMM_WORLD) == 0 && is(called, "impi_Send") && args[1] == -3);
    CHECK(seen_before == IMPI_CALL_Send && seen_after == IMPI_CALL_Send && seen_args[0] == (uint64_t)&slot
        && (int64_t)seen_args[1] == -3 && seen_args[3] == 4 && seen_args[4] == 5
        && seen_args[5] == (uint64_t)MPI_COMM_WORLD && impi_call.again == 0);
    result = 5;
    CHECK(MPI_Send_c(&slot, 1LL << 40, MPI_INT, 4, 5, MPI_COMM_WORLD) == 1006 && raised_call == IMPI_CALL_Send_c
        && raised_args[1] == 1ULL << 40);
    reset(); seen_before = -1;
    CHECK(MPI_T_finalize() == 0 && MPI_Initialized(&flag) == 0 && seen_before == -1);
    effect = calls_again;
    CHECK(MPI_Comm_free(0) == 0 && seen_after == IMPI_CALL_Comm_free);
    impi_mode = 0;
    seen_before = -1; effect = 0;
    CHECK(MPI_Barrier(MPI_COMM_WORLD) == 0 && seen_before == -1);
    intercepted = 1;
}

static void conversions(void) { outputs(); positions(); values(); errors(); events(); forked(); observed(); }
`
