// The classes of MPI's C++ bindings as the headers of MPICH 3.1 to 4 and of Intel MPI have them, which programs were
// compiled with: in each class its functions stand in the order of these headers, as this is where a program finds them
// in the class's table. All functions are inline there, so that a program brings those that it calls of a known object
// itself. Of what it has by reference it calls those here.
//
// Each function is a call of C, after which the error handler has a say; mpich.cc has those that need more.

namespace MPI {

typedef intptr_t Aint;
typedef int64_t Offset;

#define NO_STATUS reinterpret_cast<F_Status *>(MPI_STATUS_IGNORE)
#define DO(call) \
    { \
        check(call); \
    }
#define ASK(call) \
    { \
        int it = 0; \
        check(call); \
        return it != 0; \
    }
#define GET(Type, call) \
    { \
        Type it{}; \
        check(call); \
        return it; \
    }

// A class that stands for a handle of C, and what it is if nothing else is said. An error of a communicator, window or
// file is its own matter, all others are that of MPI::COMM_WORLD.
#define OBJECT(Class, Handle, null) \
    Handle h = (Handle)(null); \
    constexpr Class() {} \
    constexpr Class(Handle handle) : h(handle) {} \
    virtual ~Class() {}
#define DERIVED(Class, Base, Handle) \
    constexpr Class() {} \
    constexpr Class(Handle handle) : Base(handle) {} \
    virtual ~Class() {}
#define CHECK_BY(call) \
    void check(int error) const \
    { \
        if (error) call(error); \
    }

class Comm;
class Intercomm;
class Intracomm;
class Cartcomm;
class Graphcomm;
void MPIR_Call_world_errhand(int);

class Datatype {
public:
    OBJECT(Datatype, F_Datatype, MPI_DATATYPE_NULL)
    CHECK_BY(MPIR_Call_world_errhand)
    virtual void Commit() DO(MPI_Type_commit(&h))
    virtual void Free() DO(MPI_Type_free(&h))
    virtual Datatype Create_indexed(int count, const int array_of_blocklengths[],
        const int array_of_displacements[]) const
        GET(Datatype, MPI_Type_indexed(count, array_of_blocklengths, array_of_displacements, h, &it.h))
    virtual Datatype Create_contiguous(int count) const GET(Datatype, MPI_Type_contiguous(count, h, &it.h))
    virtual Datatype Create_vector(int count, int blocklength, int stride) const
        GET(Datatype, MPI_Type_vector(count, blocklength, stride, h, &it.h))
    virtual int Pack_size(int incount, const Comm &comm) const;
    virtual void Pack(const void *inbuf, int incount, void *outbuf, int outsize, int &position, const Comm &comm) const;
    virtual int Get_size() const GET(int, MPI_Type_size(h, &it))
    virtual void Get_envelope(int &num_integers, int &num_addresses, int &num_datatypes, int &combiner) const
        DO(MPI_Type_get_envelope(h, &num_integers, &num_addresses, &num_datatypes, &combiner))
    virtual Datatype Create_hvector(int count, int blocklength, Aint stride) const
        GET(Datatype, MPI_Type_create_hvector(count, blocklength, stride, h, &it.h))
    virtual Datatype Create_resized(const Aint lb, const Aint extent) const
        GET(Datatype, MPI_Type_create_resized(h, lb, extent, &it.h))
    virtual Datatype Create_indexed_block(int count, int blocklength, const int array_of_displacements[]) const
        GET(Datatype, MPI_Type_create_indexed_block(count, blocklength, array_of_displacements, h, &it.h))
    virtual Aint Pack_external_size(const char *datarep, int incount) const
        GET(Aint, MPI_Pack_external_size(datarep, incount, h, &it))
    virtual Datatype Create_hindexed(int count, const int array_of_blocklengths[],
        const Aint array_of_displacements[]) const
        GET(Datatype, MPI_Type_create_hindexed(count, array_of_blocklengths, array_of_displacements, h, &it.h))
    virtual bool Get_attr(int type_keyval, void *attribute_val) const
        ASK(MPI_Type_get_attr(h, type_keyval, attribute_val, &it))
    virtual void Get_true_extent(Aint &true_lb, Aint &true_extent) const
        DO(MPI_Type_get_true_extent(h, &true_lb, &true_extent))
    virtual Datatype Create_darray(int size, int rank, int ndims, const int array_of_gsizes[],
        const int array_of_distribs[], const int array_of_dargs[], const int array_of_psizes[], int order) const
        GET(Datatype, MPI_Type_create_darray(size, rank, ndims, array_of_gsizes, array_of_distribs, array_of_dargs,
            array_of_psizes, order, h, &it.h))
    virtual void Get_contents(int max_integers, int max_addresses, int max_datatypes, int array_of_integers[],
        Aint array_of_addresses[], Datatype array_of_datatypes[]) const;
    virtual void Set_attr(int type_keyval, const void *attribute_val)
        DO(MPI_Type_set_attr(h, type_keyval, const_cast<void *>(attribute_val)))
    virtual void Set_name(const char *type_name) DO(MPI_Type_set_name(h, type_name))
    virtual Datatype Create_subarray(int ndims, const int array_of_sizes[], const int array_of_subsizes[],
        const int array_of_starts[], const int order) const
        GET(Datatype, MPI_Type_create_subarray(ndims, array_of_sizes, array_of_subsizes, array_of_starts, order, h,
            &it.h))
    virtual void Unpack_external(const char datarep[], const void *inbuf, const Aint insize, Aint &position,
        void *outbuf, int outcount) const
        DO(MPI_Unpack_external(datarep, inbuf, insize, &position, outbuf, outcount, h))
    virtual void Pack_external(const char *datarep, const void *inbuf, const int incount, void *outbuf, Aint outsize,
        Aint &position) const
        DO(MPI_Pack_external(datarep, inbuf, incount, h, outbuf, outsize, &position))
    virtual void Get_extent(Aint &lb, Aint &extent) const DO(MPI_Type_get_extent(h, &lb, &extent))
    virtual void Delete_attr(int type_keyval) DO(MPI_Type_delete_attr(h, type_keyval))
    virtual void Get_name(char *type_name, int &resultlen) const;

    void Unpack(const void *inbuf, int insize, void *outbuf, int outcount, int &position, const Comm &comm) const;
    typedef int Copy(const Datatype &, int, void *, void *, void *, bool &);
    typedef int Delete(Datatype &, int, void *, void *);
    static int Create_keyval(Copy *, Delete *, void *);
};

class Info {
public:
    OBJECT(Info, F_Info, MPI_INFO_NULL)
    CHECK_BY(MPIR_Call_world_errhand)
    virtual void Delete(const char *key) DO(MPI_Info_delete(h, key))
    virtual void Get_nthkey(int n, char *key) const DO(MPI_Info_get_nthkey(h, n, key))
    virtual void Free() DO(MPI_Info_free(&h))
    virtual void Set(const char *key, const char *value) DO(MPI_Info_set(h, key, value))
    virtual bool Get_valuelen(const char *key, int &valuelen) const ASK(MPI_Info_get_valuelen(h, key, &valuelen, &it))
    virtual bool Get(const char *key, int valuelen, char *value) const ASK(MPI_Info_get(h, key, valuelen, value, &it))
    virtual int Get_nkeys() const GET(int, MPI_Info_get_nkeys(h, &it))
};

class Status {
public:
    F_Status h{};
    constexpr Status() {}
    Status(const F_Status &status) : h(status) {}
    virtual ~Status() {}
    CHECK_BY(MPIR_Call_world_errhand)
    virtual bool Is_cancelled() const ASK(MPI_Test_cancelled(&h, &it))
    virtual int Get_elements(const Datatype &datatype) const GET(int, MPI_Get_elements(&h, datatype.h, &it))
    virtual int Get_count(const Datatype &datatype) const GET(int, MPI_Get_count(&h, datatype.h, &it))
    virtual void Set_cancelled(bool flag) DO(MPI_Status_set_cancelled(&h, flag))
    virtual void Set_elements(const Datatype &datatype, int count) DO(MPI_Status_set_elements(&h, datatype.h, count))
};

class Group {
public:
    OBJECT(Group, F_Group, MPI_GROUP_NULL)
    CHECK_BY(MPIR_Call_world_errhand)
    virtual Group Excl(int n, const int ranks[]) const GET(Group, MPI_Group_excl(h, n, ranks, &it.h))
    virtual int Get_rank() const GET(int, MPI_Group_rank(h, &it))
    virtual void Free() DO(MPI_Group_free(&h))
    virtual Group Range_excl(int n, const int ranges[][3]) const
        GET(Group, MPI_Group_range_excl(h, n, const_cast<int(*)[3]>(ranges), &it.h))
    virtual Group Range_incl(int n, const int ranges[][3]) const
        GET(Group, MPI_Group_range_incl(h, n, const_cast<int(*)[3]>(ranges), &it.h))
    virtual Group Incl(int n, const int ranks[]) const GET(Group, MPI_Group_incl(h, n, ranks, &it.h))
    virtual int Get_size() const GET(int, MPI_Group_size(h, &it))
};

class Op {
public:
    OBJECT(Op, F_Op, MPI_OP_NULL)
    CHECK_BY(MPIR_Call_world_errhand)
    virtual void Free() DO(MPI_Op_free(&h))
    virtual bool Is_commutative() const ASK(MPI_Op_commutative(h, &it))
    virtual void Reduce_local(const void *inbuf, void *inoutbuf, int count, const Datatype &datatype) const
        DO(MPI_Reduce_local(inbuf, inoutbuf, count, datatype.h, h))

    typedef void Function(const void *, void *, int, const Datatype &);
    void Init(Function *, bool);
};

class Errhandler {
public:
    OBJECT(Errhandler, F_Errhandler, MPI_ERRHANDLER_NULL)
    CHECK_BY(MPIR_Call_world_errhand)
    virtual void Free() DO(MPI_Errhandler_free(&h))
};

class Request {
public:
    OBJECT(Request, F_Request, MPI_REQUEST_NULL)
    CHECK_BY(MPIR_Call_world_errhand)
    virtual void Free() DO(MPI_Request_free(&h))
    virtual void Wait(Status &status) DO(MPI_Wait(&h, &status.h))
    virtual void Wait() DO(MPI_Wait(&h, NO_STATUS))
    virtual bool Test(Status &status) ASK(MPI_Test(&h, &it, &status.h))
    virtual bool Test() ASK(MPI_Test(&h, &it, NO_STATUS))
    virtual void Cancel() const DO(MPI_Cancel(const_cast<F_Request *>(&h)))
    virtual bool Get_status(Status &status) const ASK(MPI_Request_get_status(h, &it, &status.h))
    virtual bool Get_status() const ASK(MPI_Request_get_status(h, &it, NO_STATUS))
};

class Prequest : public Request {
public:
    DERIVED(Prequest, Request, F_Request)
    virtual void Start() DO(MPI_Start(&h))
};

class Comm {
public:
    OBJECT(Comm, F_Comm, MPI_COMM_NULL)
    CHECK_BY(Call_errhandler)
    virtual Group Get_group() const GET(Group, MPI_Comm_group(h, &it.h))
    virtual int Get_rank() const GET(int, MPI_Comm_rank(h, &it))
    virtual Prequest Bsend_init(const void *buf, int count, const Datatype &datatype, int dest, int tag) const
        GET(Prequest, MPI_Bsend_init(buf, count, datatype.h, dest, tag, h, &it.h))
    virtual Prequest Ssend_init(const void *buf, int count, const Datatype &datatype, int dest, int tag) const
        GET(Prequest, MPI_Ssend_init(buf, count, datatype.h, dest, tag, h, &it.h))
    virtual bool Is_inter() const ASK(MPI_Comm_test_inter(h, &it))
    virtual Prequest Rsend_init(const void *buf, int count, const Datatype &datatype, int dest, int tag) const
        GET(Prequest, MPI_Rsend_init(buf, count, datatype.h, dest, tag, h, &it.h))
    virtual Request Ibsend(const void *buf, int count, const Datatype &datatype, int dest, int tag) const
        GET(Request, MPI_Ibsend(buf, count, datatype.h, dest, tag, h, &it.h))
    virtual void Abort(int errorcode) const DO(MPI_Abort(h, errorcode))
    virtual void Free() DO(MPI_Comm_free(&h))
    virtual Prequest Send_init(const void *buf, int count, const Datatype &datatype, int dest, int tag) const
        GET(Prequest, MPI_Send_init(buf, count, datatype.h, dest, tag, h, &it.h))
    virtual void Recv(void *buf, int count, const Datatype &datatype, int source, int tag, Status &status) const
        DO(MPI_Recv(buf, count, datatype.h, source, tag, h, &status.h))
    virtual void Recv(void *buf, int count, const Datatype &datatype, int source, int tag) const
        DO(MPI_Recv(buf, count, datatype.h, source, tag, h, NO_STATUS))
    virtual void Sendrecv(const void *sendbuf, int sendcount, const Datatype &sendtype, int dest, int sendtag,
        void *recvbuf, int recvcount, const Datatype &recvtype, int source, int recvtag, Status &status) const
        DO(MPI_Sendrecv(sendbuf, sendcount, sendtype.h, dest, sendtag, recvbuf, recvcount, recvtype.h, source,
            recvtag, h, &status.h))
    virtual void Sendrecv(const void *sendbuf, int sendcount, const Datatype &sendtype, int dest, int sendtag,
        void *recvbuf, int recvcount, const Datatype &recvtype, int source, int recvtag) const
        DO(MPI_Sendrecv(sendbuf, sendcount, sendtype.h, dest, sendtag, recvbuf, recvcount, recvtype.h, source,
            recvtag, h, NO_STATUS))
    virtual void Sendrecv_replace(void *buf, int count, const Datatype &datatype, int dest, int sendtag, int source,
        int recvtag, Status &status) const
        DO(MPI_Sendrecv_replace(buf, count, datatype.h, dest, sendtag, source, recvtag, h, &status.h))
    virtual void Sendrecv_replace(void *buf, int count, const Datatype &datatype, int dest, int sendtag, int source,
        int recvtag) const
        DO(MPI_Sendrecv_replace(buf, count, datatype.h, dest, sendtag, source, recvtag, h, NO_STATUS))
    virtual int Get_topology() const GET(int, MPI_Topo_test(h, &it))
    virtual Request Isend(const void *buf, int count, const Datatype &datatype, int dest, int tag) const
        GET(Request, MPI_Isend(buf, count, datatype.h, dest, tag, h, &it.h))
    virtual void Probe(int source, int tag, Status &status) const DO(MPI_Probe(source, tag, h, &status.h))
    virtual void Probe(int source, int tag) const DO(MPI_Probe(source, tag, h, NO_STATUS))
    virtual int Get_size() const GET(int, MPI_Comm_size(h, &it))
    virtual Request Issend(const void *buf, int count, const Datatype &datatype, int dest, int tag) const
        GET(Request, MPI_Issend(buf, count, datatype.h, dest, tag, h, &it.h))
    virtual void Set_errhandler(const Errhandler &errhandler) DO(MPI_Comm_set_errhandler(h, errhandler.h))
    virtual void Send(const void *buf, int count, const Datatype &datatype, int dest, int tag) const
        DO(MPI_Send(buf, count, datatype.h, dest, tag, h))
    virtual Request Irsend(const void *buf, int count, const Datatype &datatype, int dest, int tag) const
        GET(Request, MPI_Irsend(buf, count, datatype.h, dest, tag, h, &it.h))
    virtual void Ssend(const void *buf, int count, const Datatype &datatype, int dest, int tag) const
        DO(MPI_Ssend(buf, count, datatype.h, dest, tag, h))
    virtual Prequest Recv_init(void *buf, int count, const Datatype &datatype, int source, int tag) const
        GET(Prequest, MPI_Recv_init(buf, count, datatype.h, source, tag, h, &it.h))
    virtual bool Iprobe(int source, int tag, Status &status) const ASK(MPI_Iprobe(source, tag, h, &it, &status.h))
    virtual bool Iprobe(int source, int tag) const ASK(MPI_Iprobe(source, tag, h, &it, NO_STATUS))
    virtual void Bsend(const void *buf, int count, const Datatype &datatype, int dest, int tag) const
        DO(MPI_Bsend(buf, count, datatype.h, dest, tag, h))
    virtual Request Irecv(void *buf, int count, const Datatype &datatype, int source, int tag) const
        GET(Request, MPI_Irecv(buf, count, datatype.h, source, tag, h, &it.h))
    virtual Errhandler Get_errhandler() const GET(Errhandler, MPI_Comm_get_errhandler(h, &it.h))
    virtual void Rsend(const void *buf, int count, const Datatype &datatype, int dest, int tag) const
        DO(MPI_Rsend(buf, count, datatype.h, dest, tag, h))
    virtual void Gatherv(const void *sendbuf, int sendcount, const Datatype &sendtype, void *recvbuf,
        const int recvcounts[], const int displs[], const Datatype &recvtype, int root) const
        DO(MPI_Gatherv(sendbuf, sendcount, sendtype.h, recvbuf, recvcounts, displs, recvtype.h, root, h))
    virtual void Disconnect() DO(MPI_Comm_disconnect(&h))
    virtual void Allreduce(const void *sendbuf, void *recvbuf, int count, const Datatype &datatype, const Op &op) const
        DO(MPI_Allreduce(sendbuf, recvbuf, count, datatype.h, op.h, h))
    virtual void Alltoallw(const void *sendbuf, const int sendcounts[], const int sdispls[],
        const Datatype sendtypes[], void *recvbuf, const int recvcounts[], const int rdispls[],
            const Datatype recvtypes[]) const;
    virtual void Alltoall(const void *sendbuf, int sendcount, const Datatype &sendtype, void *recvbuf, int recvcount,
        const Datatype &recvtype) const
        DO(MPI_Alltoall(sendbuf, sendcount, sendtype.h, recvbuf, recvcount, recvtype.h, h))
    virtual bool Get_attr(int comm_keyval, void *attribute_val) const
        ASK(MPI_Comm_get_attr(h, comm_keyval, attribute_val, &it))
    virtual void Barrier() const DO(MPI_Barrier(h))
    virtual void Bcast(void *buffer, int count, const Datatype &datatype, int root) const
        DO(MPI_Bcast(buffer, count, datatype.h, root, h))
    virtual void Set_attr(int comm_keyval, const void *attribute_val)
        DO(MPI_Comm_set_attr(h, comm_keyval, const_cast<void *>(attribute_val)))
    virtual void Set_name(const char *comm_name) DO(MPI_Comm_set_name(h, comm_name))
    virtual void Alltoallv(const void *sendbuf, const int sendcounts[], const int sdispls[], const Datatype &sendtype,
        void *recvbuf, const int recvcounts[], const int rdispls[], const Datatype &recvtype) const
        DO(MPI_Alltoallv(sendbuf, sendcounts, sdispls, sendtype.h, recvbuf, recvcounts, rdispls, recvtype.h, h))
    virtual void Reduce_scatter(const void *sendbuf, void *recvbuf, const int recvcounts[], const Datatype &datatype,
        const Op &op) const
        DO(MPI_Reduce_scatter(sendbuf, recvbuf, recvcounts, datatype.h, op.h, h))
    virtual void Scatter(const void *sendbuf, int sendcount, const Datatype &sendtype, void *recvbuf, int recvcount,
        const Datatype &recvtype, int root) const
        DO(MPI_Scatter(sendbuf, sendcount, sendtype.h, recvbuf, recvcount, recvtype.h, root, h))
    virtual void Gather(const void *sendbuf, int sendcount, const Datatype &sendtype, void *recvbuf, int recvcount,
        const Datatype &recvtype, int root) const
        DO(MPI_Gather(sendbuf, sendcount, sendtype.h, recvbuf, recvcount, recvtype.h, root, h))
    virtual void Reduce(const void *sendbuf, void *recvbuf, int count, const Datatype &datatype, const Op &op,
        int root) const
        DO(MPI_Reduce(sendbuf, recvbuf, count, datatype.h, op.h, root, h))
    virtual void Allgather(const void *sendbuf, int sendcount, const Datatype &sendtype, void *recvbuf, int recvcount,
        const Datatype &recvtype) const
        DO(MPI_Allgather(sendbuf, sendcount, sendtype.h, recvbuf, recvcount, recvtype.h, h))
    virtual void Delete_attr(int comm_keyval) DO(MPI_Comm_delete_attr(h, comm_keyval))
    virtual void Scatterv(const void *sendbuf, const int sendcounts[], const int displs[], const Datatype &sendtype,
        void *recvbuf, int recvcount, const Datatype &recvtype, int root) const
        DO(MPI_Scatterv(sendbuf, sendcounts, displs, sendtype.h, recvbuf, recvcount, recvtype.h, root, h))
    virtual void Get_name(char *comm_name, int &resultlen) const DO(MPI_Comm_get_name(h, comm_name, &resultlen))
    virtual void Allgatherv(const void *sendbuf, int sendcount, const Datatype &sendtype, void *recvbuf,
        const int recvcounts[], const int displs[], const Datatype &recvtype) const
        DO(MPI_Allgatherv(sendbuf, sendcount, sendtype.h, recvbuf, recvcounts, displs, recvtype.h, h))
    virtual Comm &Clone() const = 0;
    virtual void Call_errhandler(int error) const;
    virtual void Reduce_scatter_block(const void *sendbuf, void *recvbuf, int recvcount, const Datatype &datatype,
        const Op &op) const
        DO(MPI_Reduce_scatter_block(sendbuf, recvbuf, recvcount, datatype.h, op.h, h))

    typedef int Copy(const Comm &, int, void *, void *, void *, bool &);
    typedef int Delete(Comm &, int, void *, void *);
    static int Create_keyval(Copy *, Delete *, void *);
    static Errhandler Create_errhandler(void (*)(Comm &, int *, ...));
    static Intercomm Get_parent();
    static Intercomm Join(int);
};

class Nullcomm : public Comm {
public:
    DERIVED(Nullcomm, Comm, F_Comm)
    virtual Nullcomm &Clone() const { return *new Nullcomm; }
};

class Intercomm : public Comm {
public:
    DERIVED(Intercomm, Comm, F_Comm)
    virtual Intracomm Merge(bool high) const;
    virtual Group Get_remote_group() const GET(Group, MPI_Comm_remote_group(h, &it.h))
    virtual int Get_remote_size() const GET(int, MPI_Comm_remote_size(h, &it))
    virtual Intercomm Split(int color, int key) const GET(Intercomm, MPI_Comm_split(h, color, key, &it.h))
    virtual Intercomm &Clone() const
    {
        F_Comm twin = MPI_COMM_NULL;
        check(MPI_Comm_dup(h, &twin));
        return *new Intercomm(twin);
    }
};

class Intracomm : public Comm {
public:
    DERIVED(Intracomm, Comm, F_Comm)
    virtual Intercomm Create_intercomm(int local_leader, const Comm &peer_comm, int remote_leader, int tag) const
        GET(Intercomm, MPI_Intercomm_create(h, local_leader, peer_comm.h, remote_leader, tag, &it.h))
    virtual Intracomm Split(int color, int key) const GET(Intracomm, MPI_Comm_split(h, color, key, &it.h))
    virtual Graphcomm Create_graph(int nnodes, const int index[], const int edges[], bool reorder) const;
    virtual Cartcomm Create_cart(int ndims, const int dims[], const bool periods[], bool reorder) const;
    virtual Intracomm Create(const Group &group) const GET(Intracomm, MPI_Comm_create(h, group.h, &it.h))
    virtual void Scan(const void *sendbuf, void *recvbuf, int count, const Datatype &datatype, const Op &op) const
        DO(MPI_Scan(sendbuf, recvbuf, count, datatype.h, op.h, h))
    virtual void Exscan(const void *sendbuf, void *recvbuf, int count, const Datatype &datatype, const Op &op) const
        DO(MPI_Exscan(sendbuf, recvbuf, count, datatype.h, op.h, h))
    virtual Intercomm Accept(const char *port_name, const Info &info, int root) const
        GET(Intercomm, MPI_Comm_accept(port_name, info.h, root, h, &it.h))
    virtual Intercomm Connect(const char *port_name, const Info &info, int root) const
        GET(Intercomm, MPI_Comm_connect(port_name, info.h, root, h, &it.h))
    virtual Intracomm &Clone() const
    {
        F_Comm twin = MPI_COMM_NULL;
        check(MPI_Comm_dup(h, &twin));
        return *new Intracomm(twin);
    }
};

class Grequest : public Request {
public:
    DERIVED(Grequest, Request, F_Request)
    virtual void Complete() DO(MPI_Grequest_complete(h))

    Grequest Start(int (*)(void *, Status &), int (*)(void *), int (*)(void *, bool), void *);
};

class Win {
public:
    OBJECT(Win, F_Win, MPI_WIN_NULL)
    CHECK_BY(Call_errhandler)
    virtual Group Get_group() const GET(Group, MPI_Win_get_group(h, &it.h))
    virtual void Fence(int assert) const DO(MPI_Win_fence(assert, h))
    virtual void Start(const Group &group, int assert) const DO(MPI_Win_start(group.h, assert, h))
    virtual void Free() DO(MPI_Win_free(&h))
    virtual void Put(const void *origin_addr, int origin_count, const Datatype &origin_datatype, int target_rank,
        Aint target_disp, int target_count, const Datatype &target_datatype) const
        DO(MPI_Put(origin_addr, origin_count, origin_datatype.h, target_rank, target_disp, target_count,
            target_datatype.h, h))
    virtual void Wait() const DO(MPI_Win_wait(h))
    virtual bool Test() const ASK(MPI_Win_test(h, &it))
    virtual void Get(void *origin_addr, int origin_count, const Datatype &origin_datatype, int target_rank,
        Aint target_disp, int target_count, const Datatype &target_datatype) const
        DO(MPI_Get(origin_addr, origin_count, origin_datatype.h, target_rank, target_disp, target_count,
            target_datatype.h, h))
    virtual bool Get_attr(int win_keyval, void *attribute_val) const
        ASK(MPI_Win_get_attr(h, win_keyval, attribute_val, &it))
    virtual void Set_attr(int win_keyval, const void *attribute_val)
        DO(MPI_Win_set_attr(h, win_keyval, const_cast<void *>(attribute_val)))
    virtual void Complete() const DO(MPI_Win_complete(h))
    virtual void Set_errhandler(const Errhandler &errhandler) DO(MPI_Win_set_errhandler(h, errhandler.h))
    virtual void Set_name(const char *win_name) DO(MPI_Win_set_name(h, win_name))
    virtual void Accumulate(const void *origin_addr, int origin_count, const Datatype &origin_datatype,
        int target_rank, Aint target_disp, int target_count, const Datatype &target_datatype, const Op &op) const
        DO(MPI_Accumulate(origin_addr, origin_count, origin_datatype.h, target_rank, target_disp, target_count,
            target_datatype.h, op.h, h))
    virtual void Post(const Group &group, int assert) const DO(MPI_Win_post(group.h, assert, h))
    virtual void Unlock(int rank) const DO(MPI_Win_unlock(rank, h))
    virtual void Delete_attr(int win_keyval) DO(MPI_Win_delete_attr(h, win_keyval))
    virtual void Lock(int lock_type, int rank, int assert) const DO(MPI_Win_lock(lock_type, rank, assert, h))
    virtual Errhandler Get_errhandler() const GET(Errhandler, MPI_Win_get_errhandler(h, &it.h))
    virtual void Get_name(char *win_name, int &resultlen) const DO(MPI_Win_get_name(h, win_name, &resultlen))
    virtual void Call_errhandler(int error) const;

    typedef int Copy(const Win &, int, void *, void *, void *, bool &);
    typedef int Delete(Win &, int, void *, void *);
    static int Create_keyval(Copy *, Delete *, void *);
    static Errhandler Create_errhandler(void (*)(Win &, int *, ...));
};

class File {
public:
    OBJECT(File, F_File, MPI_FILE_NULL)
    CHECK_BY(Call_errhandler)
    virtual Aint Get_type_extent(const Datatype &datatype) const GET(Aint, MPI_File_get_type_extent(h, datatype.h, &it))
    virtual void Read_ordered_end(void *buf, Status &status) DO(MPI_File_read_ordered_end(h, buf, &status.h))
    virtual void Read_ordered_end(void *buf) DO(MPI_File_read_ordered_end(h, buf, NO_STATUS))
    virtual void Seek_shared(Offset offset, int whence) DO(MPI_File_seek_shared(h, offset, whence))
    virtual void Read_ordered(void *buf, int count, const Datatype &datatype, Status &status)
        DO(MPI_File_read_ordered(h, buf, count, datatype.h, &status.h))
    virtual void Read_ordered(void *buf, int count, const Datatype &datatype)
        DO(MPI_File_read_ordered(h, buf, count, datatype.h, NO_STATUS))
    virtual Request Iread_shared(void *buf, int count, const Datatype &datatype)
        GET(Request, MPI_File_iread_shared(h, buf, count, datatype.h, &it.h))
    virtual Info Get_info() const GET(Info, MPI_File_get_info(h, &it.h))
    virtual void Write_ordered_begin(const void *buf, int count, const Datatype &datatype)
        DO(MPI_File_write_ordered_begin(h, buf, count, datatype.h))
    virtual void Set_info(const Info &info) DO(MPI_File_set_info(h, info.h))
    virtual void Write_ordered(const void *buf, int count, const Datatype &datatype, Status &status)
        DO(MPI_File_write_ordered(h, buf, count, datatype.h, &status.h))
    virtual void Write_ordered(const void *buf, int count, const Datatype &datatype)
        DO(MPI_File_write_ordered(h, buf, count, datatype.h, NO_STATUS))
    virtual void Sync() DO(MPI_File_sync(h))
    virtual void Read(void *buf, int count, const Datatype &datatype, Status &status)
        DO(MPI_File_read(h, buf, count, datatype.h, &status.h))
    virtual void Read(void *buf, int count, const Datatype &datatype)
        DO(MPI_File_read(h, buf, count, datatype.h, NO_STATUS))
    virtual void Write_all(const void *buf, int count, const Datatype &datatype, Status &status)
        DO(MPI_File_write_all(h, buf, count, datatype.h, &status.h))
    virtual void Write_all(const void *buf, int count, const Datatype &datatype)
        DO(MPI_File_write_all(h, buf, count, datatype.h, NO_STATUS))
    virtual Offset Get_size() const GET(Offset, MPI_File_get_size(h, &it))
    virtual void Write_all_end(const void *buf, Status &status) DO(MPI_File_write_all_end(h, buf, &status.h))
    virtual void Write_all_end(const void *buf) DO(MPI_File_write_all_end(h, buf, NO_STATUS))
    virtual void Read_ordered_begin(void *buf, int count, const Datatype &datatype)
        DO(MPI_File_read_ordered_begin(h, buf, count, datatype.h))
    virtual Request Iread_at(Offset offset, void *buf, int count, const Datatype &datatype)
        GET(Request, MPI_File_iread_at(h, offset, buf, count, datatype.h, &it.h))
    virtual void Write_at_all_end(const void *buf, Status &status) DO(MPI_File_write_at_all_end(h, buf, &status.h))
    virtual void Write_at_all_end(const void *buf) DO(MPI_File_write_at_all_end(h, buf, NO_STATUS))
    virtual Offset Get_position_shared() const GET(Offset, MPI_File_get_position_shared(h, &it))
    virtual void Write_shared(const void *buf, int count, const Datatype &datatype, Status &status)
        DO(MPI_File_write_shared(h, buf, count, datatype.h, &status.h))
    virtual void Write_shared(const void *buf, int count, const Datatype &datatype)
        DO(MPI_File_write_shared(h, buf, count, datatype.h, NO_STATUS))
    virtual Request Iwrite_at(Offset offset, const void *buf, int count, const Datatype &datatype)
        GET(Request, MPI_File_iwrite_at(h, offset, buf, count, datatype.h, &it.h))
    virtual void Get_view(Offset &disp, Datatype &etype, Datatype &filetype, char *datarep) const
        DO(MPI_File_get_view(h, &disp, &etype.h, &filetype.h, datarep))
    virtual void Write_all_begin(const void *buf, int count, const Datatype &datatype)
        DO(MPI_File_write_all_begin(h, buf, count, datatype.h))
    virtual void Read_all_end(void *buf, Status &status) DO(MPI_File_read_all_end(h, buf, &status.h))
    virtual void Read_all_end(void *buf) DO(MPI_File_read_all_end(h, buf, NO_STATUS))
    virtual Offset Get_byte_offset(const Offset offset) const GET(Offset, MPI_File_get_byte_offset(h, offset, &it))
    virtual Request Iread(void *buf, int count, const Datatype &datatype)
        GET(Request, MPI_File_iread(h, buf, count, datatype.h, &it.h))
    virtual void Read_at_all_end(void *buf, Status &status) DO(MPI_File_read_at_all_end(h, buf, &status.h))
    virtual void Read_at_all_end(void *buf) DO(MPI_File_read_at_all_end(h, buf, NO_STATUS))
    virtual void Write_at(Offset offset, const void *buf, int count, const Datatype &datatype, Status &status)
        DO(MPI_File_write_at(h, offset, buf, count, datatype.h, &status.h))
    virtual void Write_at(Offset offset, const void *buf, int count, const Datatype &datatype)
        DO(MPI_File_write_at(h, offset, buf, count, datatype.h, NO_STATUS))
    virtual void Write_at_all_begin(Offset offset, const void *buf, int count, const Datatype &datatype)
        DO(MPI_File_write_at_all_begin(h, offset, buf, count, datatype.h))
    virtual Errhandler Get_errhandler() const GET(Errhandler, MPI_File_get_errhandler(h, &it.h))
    virtual int Get_amode() const GET(int, MPI_File_get_amode(h, &it))
    virtual void Set_atomicity(bool flag) DO(MPI_File_set_atomicity(h, flag))
    virtual Group Get_group() const GET(Group, MPI_File_get_group(h, &it.h))
    virtual Offset Get_position() const GET(Offset, MPI_File_get_position(h, &it))
    virtual void Seek(Offset offset, int whence) DO(MPI_File_seek(h, offset, whence))
    virtual void Read_all_begin(void *buf, int count, const Datatype &datatype)
        DO(MPI_File_read_all_begin(h, buf, count, datatype.h))
    virtual void Read_at_all_begin(Offset offset, void *buf, int count, const Datatype &datatype)
        DO(MPI_File_read_at_all_begin(h, offset, buf, count, datatype.h))
    virtual void Read_all(void *buf, int count, const Datatype &datatype, Status &status)
        DO(MPI_File_read_all(h, buf, count, datatype.h, &status.h))
    virtual void Read_all(void *buf, int count, const Datatype &datatype)
        DO(MPI_File_read_all(h, buf, count, datatype.h, NO_STATUS))
    virtual void Preallocate(Offset size) DO(MPI_File_preallocate(h, size))
    virtual void Read_at_all(Offset offset, void *buf, int count, const Datatype &datatype, Status &status)
        DO(MPI_File_read_at_all(h, offset, buf, count, datatype.h, &status.h))
    virtual void Read_at_all(Offset offset, void *buf, int count, const Datatype &datatype)
        DO(MPI_File_read_at_all(h, offset, buf, count, datatype.h, NO_STATUS))
    virtual void Read_shared(void *buf, int count, const Datatype &datatype, Status &status)
        DO(MPI_File_read_shared(h, buf, count, datatype.h, &status.h))
    virtual void Read_shared(void *buf, int count, const Datatype &datatype)
        DO(MPI_File_read_shared(h, buf, count, datatype.h, NO_STATUS))
    virtual Request Iwrite(const void *buf, int count, const Datatype &datatype)
        GET(Request, MPI_File_iwrite(h, buf, count, datatype.h, &it.h))
    virtual Request Iwrite_shared(const void *buf, int count, const Datatype &datatype)
        GET(Request, MPI_File_iwrite_shared(h, buf, count, datatype.h, &it.h))
    virtual void Set_errhandler(const Errhandler &errhandler) DO(MPI_File_set_errhandler(h, errhandler.h))
    virtual void Write_at_all(Offset offset, const void *buf, int count, const Datatype &datatype, Status &status)
        DO(MPI_File_write_at_all(h, offset, buf, count, datatype.h, &status.h))
    virtual void Write_at_all(Offset offset, const void *buf, int count, const Datatype &datatype)
        DO(MPI_File_write_at_all(h, offset, buf, count, datatype.h, NO_STATUS))
    virtual void Set_size(Offset size) DO(MPI_File_set_size(h, size))
    virtual void Set_view(Offset disp, const Datatype &etype, const Datatype filetype, const char *datarep,
        const Info &info)
        DO(MPI_File_set_view(h, disp, etype.h, filetype.h, datarep, info.h))
    virtual void Read_at(Offset offset, void *buf, int count, const Datatype &datatype, Status &status)
        DO(MPI_File_read_at(h, offset, buf, count, datatype.h, &status.h))
    virtual void Read_at(Offset offset, void *buf, int count, const Datatype &datatype)
        DO(MPI_File_read_at(h, offset, buf, count, datatype.h, NO_STATUS))
    virtual void Close() DO(MPI_File_close(&h))
    virtual void Write_ordered_end(const void *buf, Status &status) DO(MPI_File_write_ordered_end(h, buf, &status.h))
    virtual void Write_ordered_end(const void *buf) DO(MPI_File_write_ordered_end(h, buf, NO_STATUS))
    virtual void Write(const void *buf, int count, const Datatype &datatype, Status &status)
        DO(MPI_File_write(h, buf, count, datatype.h, &status.h))
    virtual void Write(const void *buf, int count, const Datatype &datatype)
        DO(MPI_File_write(h, buf, count, datatype.h, NO_STATUS))
    virtual bool Get_atomicity() const ASK(MPI_File_get_atomicity(h, &it))
    virtual void Call_errhandler(int error) const;

    static Errhandler Create_errhandler(void (*)(File &, int *, ...));
};

class Graphcomm : public Intracomm {
public:
    DERIVED(Graphcomm, Intracomm, F_Comm)
    virtual void Get_dims(int *nnodes, int *nedges) const DO(MPI_Graphdims_get(h, nnodes, nedges))
    virtual void Get_topo(int maxindex, int maxedges, int index[], int edges[]) const
        DO(MPI_Graph_get(h, maxindex, maxedges, index, edges))
    virtual int Map(int nnodes, const int index[], const int edges[]) const
        GET(int, MPI_Graph_map(h, nnodes, index, edges, &it))
    virtual void Get_neighbors(int rank, int maxneighbors, int neighbors[]) const
        DO(MPI_Graph_neighbors(h, rank, maxneighbors, neighbors))
    virtual int Get_neighbors_count(int rank) const GET(int, MPI_Graph_neighbors_count(h, rank, &it))
    virtual Graphcomm &Clone() const
    {
        F_Comm twin = MPI_COMM_NULL;
        check(MPI_Comm_dup(h, &twin));
        return *new Graphcomm(twin);
    }
};

class Cartcomm : public Intracomm {
public:
    DERIVED(Cartcomm, Intracomm, F_Comm)
    virtual void Get_coords(int rank, int maxdims, int coords[]) const DO(MPI_Cart_coords(h, rank, maxdims, coords))
    virtual int Get_cart_rank(const int coords[]) const GET(int, MPI_Cart_rank(h, coords, &it))
    virtual int Get_dim() const GET(int, MPI_Cartdim_get(h, &it))
    virtual void Get_topo(int maxdims, int dims[], bool periods[], int coords[]) const;
    virtual int Map(int ndims, const int dims[], const bool periods[]) const;
    virtual Cartcomm Sub(const bool remain_dims[]) const;
    virtual void Shift(int direction, int disp, int &rank_source, int &rank_dest) const
        DO(MPI_Cart_shift(h, direction, disp, &rank_source, &rank_dest))
    virtual Cartcomm &Clone() const
    {
        F_Comm twin = MPI_COMM_NULL;
        check(MPI_Comm_dup(h, &twin));
        return *new Cartcomm(twin);
    }
};

class Exception {
public:
    int code;
    char text[MPI_MAX_ERROR_STRING];
    explicit Exception(int error) : code(error) {}
    virtual ~Exception() {}
};

} // namespace MPI
