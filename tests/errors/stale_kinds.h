/* stale_kinds.h - the kinds of handles, for the tests of handles that name nothing any more: how an object is made,
 * asked for something, and freed, and the class of the error that a wrong handle raises.
 *
 * make answers a handle, as a number. ask and end answer codes; end ends the handle in *h as MPI does. A message has no
 * question that leaves it as it is: its ask is NULL. */
#ifndef STALE_KINDS_H
#define STALE_KINDS_H

#include "../check.h"

struct kind {
    const char *name;
    int class;
    uintptr_t null;
    uintptr_t (*make)(void);
    int (*ask)(uintptr_t h);
    int (*end)(uintptr_t *h);
};

static int anything; /* what the questions answer */

static uintptr_t make_comm(void)
{
    MPI_Comm comm;
    CHECK_EQ(MPI_Comm_dup(MPI_COMM_SELF, &comm), MPI_SUCCESS);
    return (uintptr_t)comm;
}

static int ask_comm(uintptr_t h) { return MPI_Comm_size((MPI_Comm)h, &anything); }
static int end_comm(uintptr_t *h) { return MPI_Comm_free((MPI_Comm *)h); }

static uintptr_t make_group(void)
{
    MPI_Group group;
    CHECK_EQ(MPI_Comm_group(MPI_COMM_SELF, &group), MPI_SUCCESS);
    return (uintptr_t)group;
}

static int ask_group(uintptr_t h) { return MPI_Group_size((MPI_Group)h, &anything); }
static int end_group(uintptr_t *h) { return MPI_Group_free((MPI_Group *)h); }

static uintptr_t make_type(void)
{
    MPI_Datatype type;
    CHECK_EQ(MPI_Type_contiguous(3, MPI_INT, &type), MPI_SUCCESS);
    return (uintptr_t)type;
}

/* A datatype with a name: the library has to know more of it than of others. */
static uintptr_t make_named_type(void)
{
    MPI_Datatype type = (MPI_Datatype)make_type();
    CHECK_EQ(MPI_Type_set_name(type, "three"), MPI_SUCCESS);
    return (uintptr_t)type;
}

static int ask_type(uintptr_t h) { return MPI_Type_size((MPI_Datatype)h, &anything); }

static int ask_named_type(uintptr_t h) { return MPI_Type_set_name((MPI_Datatype)h, "three"); }
static int end_type(uintptr_t *h) { return MPI_Type_free((MPI_Datatype *)h); }

static void do_nothing(void *in, void *inout, int *n, MPI_Datatype *type)
{
    (void)in, (void)inout, (void)n, (void)type;
}

static uintptr_t make_op(void)
{
    MPI_Op op;
    CHECK_EQ(MPI_Op_create(do_nothing, 1, &op), MPI_SUCCESS);
    return (uintptr_t)op;
}

static int ask_op(uintptr_t h) { return MPI_Op_commutative((MPI_Op)h, &anything); }
static int end_op(uintptr_t *h) { return MPI_Op_free((MPI_Op *)h); }

static uintptr_t make_info(void)
{
    MPI_Info info;
    CHECK_EQ(MPI_Info_create(&info), MPI_SUCCESS);
    return (uintptr_t)info;
}

static int ask_info(uintptr_t h) { return MPI_Info_get_nkeys((MPI_Info)h, &anything); }
static int end_info(uintptr_t *h) { return MPI_Info_free((MPI_Info *)h); }

static int handled; /* errors that the program's error handlers were called for */
static void handle(MPI_Comm *comm, int *code, ...) { (void)comm, (void)code, handled++; }

static uintptr_t make_handler(void)
{
    MPI_Errhandler handler;
    CHECK_EQ(MPI_Comm_create_errhandler(handle, &handler), MPI_SUCCESS);
    return (uintptr_t)handler;
}

static int ask_handler(uintptr_t h)
{
    int code = MPI_Comm_set_errhandler(MPI_COMM_SELF, (MPI_Errhandler)h);
    if (code == MPI_SUCCESS) MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    return code;
}

static int end_handler(uintptr_t *h) { return MPI_Errhandler_free((MPI_Errhandler *)h); }

static uintptr_t make_session(void)
{
    MPI_Session session;
    CHECK_EQ(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session), MPI_SUCCESS);
    return (uintptr_t)session;
}

static int ask_session(uintptr_t h) { return MPI_Session_get_num_psets((MPI_Session)h, MPI_INFO_NULL, &anything); }
static int end_session(uintptr_t *h) { return MPI_Session_finalize((MPI_Session *)h); }

/* Keys are integers. */
static uintptr_t make_key(void)
{
    int key;
    CHECK_EQ(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &key, NULL), MPI_SUCCESS);
    return (uintptr_t)key;
}

static int ask_key(uintptr_t h)
{
    void *value;
    return MPI_Comm_get_attr(MPI_COMM_SELF, (int)h, &value, &anything);
}

static int end_key(uintptr_t *h)
{
    int key = (int)*h, code = MPI_Comm_free_keyval(&key);
    *h = (uintptr_t)key;
    return code;
}

static int word;

static uintptr_t make_receive(void)
{
    MPI_Request request;
    CHECK_EQ(MPI_Irecv(&word, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &request), MPI_SUCCESS);
    return (uintptr_t)request;
}

static int ask_request(uintptr_t h) { return MPI_Request_get_status((MPI_Request)h, &anything, MPI_STATUS_IGNORE); }

static int end_receive(uintptr_t *h)
{
    int code = MPI_Cancel((MPI_Request *)h);
    return code == MPI_SUCCESS ? MPI_Wait((MPI_Request *)h, MPI_STATUS_IGNORE) : code;
}

static uintptr_t make_persistent(void)
{
    MPI_Request request;
    CHECK_EQ(MPI_Recv_init(&word, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &request), MPI_SUCCESS);
    return (uintptr_t)request;
}

static int end_persistent(uintptr_t *h) { return MPI_Request_free((MPI_Request *)h); }

static int query(void *extra, MPI_Status *status)
{
    (void)extra;
    MPI_Status_set_elements(status, MPI_INT, 0);
    MPI_Status_set_cancelled(status, 0);
    return MPI_SUCCESS;
}

static int forget(void *extra) { (void)extra; return MPI_SUCCESS; }
static int cancel(void *extra, int complete) { (void)extra, (void)complete; return MPI_SUCCESS; }

static uintptr_t make_general(void)
{
    MPI_Request request;
    CHECK_EQ(MPI_Grequest_start(query, forget, cancel, NULL, &request), MPI_SUCCESS);
    return (uintptr_t)request;
}

static int end_general(uintptr_t *h)
{
    int code = MPI_Grequest_complete((MPI_Request)*h);
    return code == MPI_SUCCESS ? MPI_Wait((MPI_Request *)h, MPI_STATUS_IGNORE) : code;
}

static int last_sent; /* in the last message that was made */

static uintptr_t make_message(void)
{
    MPI_Message message;
    last_sent++;
    CHECK_EQ(MPI_Send(&last_sent, 1, MPI_INT, 0, 2, MPI_COMM_SELF), MPI_SUCCESS);
    CHECK_EQ(MPI_Mprobe(0, 2, MPI_COMM_SELF, &message, MPI_STATUS_IGNORE), MPI_SUCCESS);
    return (uintptr_t)message;
}

static int end_message(uintptr_t *h) { return MPI_Mrecv(&word, 1, MPI_INT, (MPI_Message *)h, MPI_STATUS_IGNORE); }

static const struct kind kinds[] = {
    {"communicator", MPI_ERR_COMM, (uintptr_t)MPI_COMM_NULL, make_comm, ask_comm, end_comm},
    {"group", MPI_ERR_GROUP, (uintptr_t)MPI_GROUP_NULL, make_group, ask_group, end_group},
    {"datatype", MPI_ERR_TYPE, (uintptr_t)MPI_DATATYPE_NULL, make_type, ask_type, end_type},
    {"named datatype", MPI_ERR_TYPE, (uintptr_t)MPI_DATATYPE_NULL, make_named_type, ask_named_type, end_type},
    {"operation", MPI_ERR_OP, (uintptr_t)MPI_OP_NULL, make_op, ask_op, end_op},
    {"info", MPI_ERR_INFO, (uintptr_t)MPI_INFO_NULL, make_info, ask_info, end_info},
    {"error handler", MPI_ERR_ERRHANDLER, (uintptr_t)MPI_ERRHANDLER_NULL, make_handler, ask_handler, end_handler},
    {"session", MPI_ERR_SESSION, (uintptr_t)MPI_SESSION_NULL, make_session, ask_session, end_session},
    {"key", MPI_ERR_KEYVAL, (uintptr_t)MPI_KEYVAL_INVALID, make_key, ask_key, end_key},
    {"message", MPI_ERR_ARG, (uintptr_t)MPI_MESSAGE_NULL, make_message, NULL, end_message},
    {"receive", MPI_ERR_REQUEST, (uintptr_t)MPI_REQUEST_NULL, make_receive, ask_request, end_receive},
    {"persistent receive", MPI_ERR_REQUEST, (uintptr_t)MPI_REQUEST_NULL, make_persistent, ask_request, end_persistent},
    {"generalized request", MPI_ERR_REQUEST, (uintptr_t)MPI_REQUEST_NULL, make_general, ask_request, end_general},
};

enum { KINDS = sizeof kinds / sizeof *kinds };

static inline int class_of(int code)
{
    int class = -1;
    MPI_Error_class(code, &class);
    return class;
}

#endif
