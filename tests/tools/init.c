/* The tool information interface begins and ends by itself: before MPI_Init, after MPI_Finalize, and nested. Outside of
 * it every function says so, and nothing is fatal. */
/* ranks: 1 2 4 */
#include "tool.h"

/* Every function but MPI_T_init_thread, with arguments that would be right. */
static void refused(int want)
{
    static char name[64], buffer[4096];
    int n = sizeof name, i = 0, m = 0, k = 0;
    MPI_Count ticks = 0, most = 0;
    MPI_T_enum e = MPI_T_ENUM_NULL;
    MPI_T_cvar_handle cvar = MPI_T_CVAR_HANDLE_NULL;
    MPI_T_pvar_session session = MPI_T_PVAR_SESSION_NULL;
    MPI_T_pvar_handle pvar = MPI_T_PVAR_HANDLE_NULL;
    MPI_T_event_registration registration = NULL;
    MPI_T_source_order order;
    MPI_Info info = MPI_INFO_NULL;
    MPI_Datatype type;
#define REFUSED(call) CHECK_EQ(call, want)
    REFUSED(MPI_T_enum_get_info(e, &i, name, &n));
    REFUSED(MPI_T_enum_get_item(e, 0, &i, name, &n));
    REFUSED(MPI_T_cvar_get_num(&i));
    REFUSED(MPI_T_cvar_get_info(0, name, &n, &i, &type, &e, NULL, NULL, &m, &k));
    REFUSED(MPI_T_cvar_get_index("IMPI_CHECK", &i));
    REFUSED(MPI_T_cvar_handle_alloc(0, NULL, &cvar, &i));
    REFUSED(MPI_T_cvar_handle_free(&cvar));
    REFUSED(MPI_T_cvar_read(cvar, buffer));
    REFUSED(MPI_T_cvar_write(cvar, buffer));
    REFUSED(MPI_T_pvar_get_num(&i));
    REFUSED(MPI_T_pvar_get_info(0, name, &n, &i, &i, &type, &e, NULL, NULL, &m, &k, &k, &k));
    REFUSED(MPI_T_pvar_get_index("state", MPI_T_PVAR_CLASS_STATE, &i));
    REFUSED(MPI_T_pvar_session_create(&session));
    REFUSED(MPI_T_pvar_session_free(&session));
    REFUSED(MPI_T_pvar_handle_alloc(session, 0, NULL, &pvar, &i));
    REFUSED(MPI_T_pvar_handle_free(session, &pvar));
    REFUSED(MPI_T_pvar_start(session, pvar));
    REFUSED(MPI_T_pvar_stop(session, pvar));
    REFUSED(MPI_T_pvar_read(session, pvar, buffer));
    REFUSED(MPI_T_pvar_write(session, pvar, buffer));
    REFUSED(MPI_T_pvar_reset(session, pvar));
    REFUSED(MPI_T_pvar_readreset(session, pvar, buffer));
    REFUSED(MPI_T_source_get_num(&i));
    REFUSED(MPI_T_source_get_info(0, name, &n, NULL, NULL, &order, &ticks, &most, NULL));
    REFUSED(MPI_T_source_get_timestamp(0, &ticks));
    REFUSED(MPI_T_event_get_num(&i));
    REFUSED(MPI_T_event_get_info(0, name, &n, &i, NULL, NULL, NULL, &e, NULL, NULL, NULL, &m));
    REFUSED(MPI_T_event_get_index("peer_lost", &i));
    REFUSED(MPI_T_event_handle_alloc(0, NULL, MPI_INFO_NULL, &registration));
    REFUSED(MPI_T_event_handle_set_info(registration, info));
    REFUSED(MPI_T_event_handle_get_info(registration, &info));
    REFUSED(MPI_T_event_register_callback(registration, MPI_T_CB_REQUIRE_NONE, info, NULL, NULL));
    REFUSED(MPI_T_event_callback_set_info(registration, MPI_T_CB_REQUIRE_NONE, info));
    REFUSED(MPI_T_event_callback_get_info(registration, MPI_T_CB_REQUIRE_NONE, &info));
    REFUSED(MPI_T_event_handle_free(registration, NULL, NULL));
    REFUSED(MPI_T_event_set_dropped_handler(registration, NULL));
    REFUSED(MPI_T_event_read(NULL, 0, buffer));
    REFUSED(MPI_T_event_copy(NULL, buffer));
    REFUSED(MPI_T_event_get_timestamp(NULL, &ticks));
    REFUSED(MPI_T_event_get_source(NULL, &i));
    REFUSED(MPI_T_category_get_num(&i));
    REFUSED(MPI_T_category_get_info(0, name, &n, NULL, NULL, &i, &m, &k));
    REFUSED(MPI_T_category_get_num_events(0, &i));
    REFUSED(MPI_T_category_get_index("libimpi", &i));
    REFUSED(MPI_T_category_get_cvars(0, 1, &i));
    REFUSED(MPI_T_category_get_pvars(0, 1, &i));
    REFUSED(MPI_T_category_get_events(0, 1, &i));
    REFUSED(MPI_T_category_get_categories(0, 1, &i));
    REFUSED(MPI_T_category_changed(&i));
    REFUSED(MPI_T_finalize());
}

static int state(void)
{
    MPI_T_pvar_session s;
    OK(MPI_T_pvar_session_create(&s));
    MPI_T_pvar_handle h = tool_handle(s, "state", MPI_T_PVAR_CLASS_STATE, NULL);
    int value = -1;
    OK(MPI_T_pvar_read(s, h, &value));
    OK(MPI_T_pvar_session_free(&s));
    CHECK(s == MPI_T_PVAR_SESSION_NULL);
    return value;
}

int main(int argc, char **argv)
{
    int provided = -1, n = -1;
    refused(MPI_T_ERR_NOT_INITIALIZED);
    CHECK_EQ(MPI_T_init_thread(MPI_THREAD_SINGLE, NULL), MPI_T_ERR_INVALID);
    refused(MPI_T_ERR_NOT_INITIALIZED);

    int levels[] = {MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED, MPI_THREAD_MULTIPLE};
    for (int i = 0; i < 4; i++) {
        OK(MPI_T_init_thread(levels[i], &provided));
        CHECK(provided >= levels[i]);
    }
    for (int i = 0; i < 3; i++) OK(MPI_T_finalize());
    OK(MPI_T_cvar_get_num(&n));
    CHECK(n > 0);
    CHECK_EQ(state(), 0);

    check_start(&argc, &argv);
    CHECK_EQ(state(), 1);
    OK(MPI_T_finalize());
    refused(MPI_T_ERR_NOT_INITIALIZED);
    tool_start();

    /* Handles and sessions end with the interface. */
    MPI_T_pvar_session s;
    OK(MPI_T_pvar_session_create(&s));
    MPI_T_pvar_handle h = tool_started(s, "messages_sent_self", MPI_T_PVAR_CLASS_COUNTER, NULL);
    MPI_T_cvar_handle c = tool_control("IMPI_CHECK", &n);
    OK(MPI_T_finalize());
    tool_start();
    unsigned long long value;
    CHECK_EQ(MPI_T_pvar_read(s, h, &value), MPI_T_ERR_INVALID_SESSION);
    CHECK_EQ(MPI_T_cvar_read(c, &n), MPI_T_ERR_INVALID_HANDLE);

    check_end();
    CHECK_EQ(state(), 2);
    OK(MPI_T_finalize());
    refused(MPI_T_ERR_NOT_INITIALIZED);
    return 0;
}
