/* The procedures of Open MPI's Fortran bindings, by the names that the linker knows. */

/* mpi_x_ with its other spellings, and ompi_x_f, by which its modules call it. */
#define FORTRAN_PROCEDURES(X) \
    X(abort) X(accumulate) X(add_error_class) X(add_error_code) X(add_error_string) X(address) X(aint_add) \
    X(aint_diff) X(allgather) X(allgatherv) X(alloc_mem) X(alloc_mem_cptr) X(allreduce) X(alltoall) X(alltoallv) \
    X(alltoallw) X(attr_delete) X(attr_get) X(attr_put) X(barrier) X(bcast) X(bsend) X(bsend_init) X(buffer_attach) \
    X(buffer_detach) X(cancel) X(cart_coords) X(cart_create) X(cart_get) X(cart_map) X(cart_rank) X(cart_shift) \
    X(cart_sub) X(cartdim_get) X(close_port) X(comm_accept) X(comm_call_errhandler) X(comm_compare) X(comm_connect) \
    X(comm_create) X(comm_create_errhandler) X(comm_create_group) X(comm_create_keyval) X(comm_delete_attr) \
    X(comm_disconnect) X(comm_dup) X(comm_dup_with_info) X(comm_free) X(comm_free_keyval) X(comm_get_attr) \
    X(comm_get_errhandler) X(comm_get_info) X(comm_get_name) X(comm_get_parent) X(comm_group) X(comm_idup) \
    X(comm_join) X(comm_rank) X(comm_remote_group) X(comm_remote_size) X(comm_set_attr) X(comm_set_errhandler) \
    X(comm_set_info) X(comm_set_name) X(comm_size) X(comm_spawn) X(comm_spawn_multiple) X(comm_split) \
    X(comm_split_type) X(comm_test_inter) X(compare_and_swap) X(dims_create) X(dist_graph_create) \
    X(dist_graph_create_adjacent) X(dist_graph_neighbors) X(dist_graph_neighbors_count) X(errhandler_create) \
    X(errhandler_free) X(errhandler_get) X(errhandler_set) X(error_class) X(error_string) X(exscan) X(f_sync_reg) \
    X(fetch_and_op) X(file_call_errhandler) X(file_close) X(file_create_errhandler) X(file_delete) X(file_get_amode) \
    X(file_get_atomicity) X(file_get_byte_offset) X(file_get_errhandler) X(file_get_group) X(file_get_info) \
    X(file_get_position) X(file_get_position_shared) X(file_get_size) X(file_get_type_extent) X(file_get_view) \
    X(file_iread) X(file_iread_all) X(file_iread_at) X(file_iread_at_all) X(file_iread_shared) X(file_iwrite) \
    X(file_iwrite_all) X(file_iwrite_at) X(file_iwrite_at_all) X(file_iwrite_shared) X(file_open) \
    X(file_preallocate) X(file_read) X(file_read_all) X(file_read_all_begin) X(file_read_all_end) X(file_read_at) \
    X(file_read_at_all) X(file_read_at_all_begin) X(file_read_at_all_end) X(file_read_ordered) \
    X(file_read_ordered_begin) X(file_read_ordered_end) X(file_read_shared) X(file_seek) X(file_seek_shared) \
    X(file_set_atomicity) X(file_set_errhandler) X(file_set_info) X(file_set_size) X(file_set_view) X(file_sync) \
    X(file_write) X(file_write_all) X(file_write_all_begin) X(file_write_all_end) X(file_write_at) \
    X(file_write_at_all) X(file_write_at_all_begin) X(file_write_at_all_end) X(file_write_ordered) \
    X(file_write_ordered_begin) X(file_write_ordered_end) X(file_write_shared) X(finalize) X(finalized) X(free_mem) \
    X(gather) X(gatherv) X(get) X(get_accumulate) X(get_address) X(get_count) X(get_elements) X(get_elements_x) \
    X(get_library_version) X(get_processor_name) X(get_version) X(graph_create) X(graph_get) X(graph_map) \
    X(graph_neighbors) X(graph_neighbors_count) X(graphdims_get) X(grequest_complete) X(grequest_start) \
    X(group_compare) X(group_difference) X(group_excl) X(group_free) X(group_incl) X(group_intersection) \
    X(group_range_excl) X(group_range_incl) X(group_rank) X(group_size) X(group_translate_ranks) X(group_union) \
    X(iallgather) X(iallgatherv) X(iallreduce) X(ialltoall) X(ialltoallv) X(ialltoallw) X(ibarrier) X(ibcast) \
    X(ibsend) X(iexscan) X(igather) X(igatherv) X(improbe) X(imrecv) X(ineighbor_allgather) X(ineighbor_allgatherv) \
    X(ineighbor_alltoall) X(ineighbor_alltoallv) X(ineighbor_alltoallw) X(info_create) X(info_delete) X(info_dup) \
    X(info_free) X(info_get) X(info_get_nkeys) X(info_get_nthkey) X(info_get_valuelen) X(info_set) X(init) \
    X(init_thread) X(initialized) X(intercomm_create) X(intercomm_merge) X(iprobe) X(irecv) X(ireduce) \
    X(ireduce_scatter) X(ireduce_scatter_block) X(irsend) X(is_thread_main) X(iscan) X(iscatter) X(iscatterv) \
    X(isend) X(issend) X(keyval_create) X(keyval_free) X(lookup_name) X(mprobe) X(mrecv) X(neighbor_allgather) \
    X(neighbor_allgatherv) X(neighbor_alltoall) X(neighbor_alltoallv) X(neighbor_alltoallw) X(op_commutative) \
    X(op_create) X(op_free) X(open_port) X(pack) X(pack_external) X(pack_external_size) X(pack_size) X(pcontrol) \
    X(probe) X(publish_name) X(put) X(query_thread) X(raccumulate) X(recv) X(recv_init) X(reduce) X(reduce_local) \
    X(reduce_scatter) X(reduce_scatter_block) X(register_datarep) X(request_free) X(request_get_status) X(rget) \
    X(rget_accumulate) X(rput) X(rsend) X(rsend_init) X(scan) X(scatter) X(scatterv) X(send) X(send_init) \
    X(sendrecv) X(sendrecv_replace) X(ssend) X(ssend_init) X(start) X(startall) X(status_set_cancelled) \
    X(status_set_elements) X(status_set_elements_x) X(test) X(test_cancelled) X(testall) X(testany) X(testsome) \
    X(topo_test) X(type_commit) X(type_contiguous) X(type_create_darray) X(type_create_f90_complex) \
    X(type_create_f90_integer) X(type_create_f90_real) X(type_create_hindexed) X(type_create_hindexed_block) \
    X(type_create_hvector) X(type_create_indexed_block) X(type_create_keyval) X(type_create_resized) \
    X(type_create_struct) X(type_create_subarray) X(type_delete_attr) X(type_dup) X(type_extent) X(type_free) \
    X(type_free_keyval) X(type_get_attr) X(type_get_contents) X(type_get_envelope) X(type_get_extent) \
    X(type_get_extent_x) X(type_get_name) X(type_get_true_extent) X(type_get_true_extent_x) X(type_hindexed) \
    X(type_hvector) X(type_indexed) X(type_lb) X(type_match_size) X(type_set_attr) X(type_set_name) X(type_size) \
    X(type_size_x) X(type_struct) X(type_ub) X(type_vector) X(unpack) X(unpack_external) X(unpublish_name) X(wait) \
    X(waitall) X(waitany) X(waitsome) X(win_allocate) X(win_allocate_cptr) X(win_allocate_shared) \
    X(win_allocate_shared_cptr) X(win_attach) X(win_call_errhandler) X(win_complete) X(win_create) \
    X(win_create_dynamic) X(win_create_errhandler) X(win_create_keyval) X(win_delete_attr) X(win_detach) \
    X(win_fence) X(win_flush) X(win_flush_all) X(win_flush_local) X(win_flush_local_all) X(win_free) \
    X(win_free_keyval) X(win_get_attr) X(win_get_errhandler) X(win_get_group) X(win_get_info) X(win_get_name) \
    X(win_lock) X(win_lock_all) X(win_post) X(win_set_attr) X(win_set_errhandler) X(win_set_info) X(win_set_name) \
    X(win_shared_query) X(win_shared_query_cptr) X(win_start) X(win_sync) X(win_test) X(win_unlock) \
    X(win_unlock_all) X(win_wait) X(wtick) X(wtime)

/* Persistent collective operations by the names that Open MPI 4 has for them. */
#define FORTRAN_EXTENSIONS(X) \
    X(allgather_init) X(allgatherv_init) X(allreduce_init) X(alltoall_init) X(alltoallv_init) X(alltoallw_init) \
    X(barrier_init) X(bcast_init) X(exscan_init) X(gather_init) X(gatherv_init) X(neighbor_allgather_init) \
    X(neighbor_allgatherv_init) X(neighbor_alltoall_init) X(neighbor_alltoallv_init) X(neighbor_alltoallw_init) \
    X(reduce_init) X(reduce_scatter_block_init) X(reduce_scatter_init) X(scan_init) X(scatter_init) X(scatterv_init)

/* MPI_X_f08 and MPI_X_f, which are bound to C. */
#define FORTRAN_BOUND(X) \
    X(Abort) X(Accumulate) X(Add_error_class) X(Add_error_code) X(Add_error_string) X(Address) X(Aint_add) \
    X(Aint_diff) X(Allgather) X(Allgatherv) X(Alloc_mem) X(Alloc_mem_cptr) X(Allreduce) X(Alltoall) X(Alltoallv) \
    X(Alltoallw) X(Attr_delete) X(Attr_get) X(Attr_put) X(Barrier) X(Bcast) X(Bsend) X(Bsend_init) X(Buffer_attach) \
    X(Cancel) X(Cart_coords) X(Cart_create) X(Cart_get) X(Cart_map) X(Cart_rank) X(Cart_shift) X(Cart_sub) \
    X(Cartdim_get) X(Close_port) X(Comm_accept) X(Comm_call_errhandler) X(Comm_compare) X(Comm_connect) \
    X(Comm_create) X(Comm_create_errhandler) X(Comm_create_group) X(Comm_create_keyval) X(Comm_delete_attr) \
    X(Comm_disconnect) X(Comm_dup) X(Comm_dup_with_info) X(Comm_free) X(Comm_free_keyval) X(Comm_get_attr) \
    X(Comm_get_errhandler) X(Comm_get_info) X(Comm_get_name) X(Comm_get_parent) X(Comm_group) X(Comm_idup) \
    X(Comm_join) X(Comm_rank) X(Comm_remote_group) X(Comm_remote_size) X(Comm_set_attr) X(Comm_set_errhandler) \
    X(Comm_set_info) X(Comm_set_name) X(Comm_size) X(Comm_spawn) X(Comm_spawn_multiple) X(Comm_split) \
    X(Comm_split_type) X(Comm_test_inter) X(Compare_and_swap) X(Dims_create) X(Dist_graph_create) \
    X(Dist_graph_create_adjacent) X(Dist_graph_neighbors) X(Dist_graph_neighbors_count) X(Errhandler_create) \
    X(Errhandler_free) X(Errhandler_get) X(Errhandler_set) X(Error_class) X(Error_string) X(Exscan) X(F_sync_reg) \
    X(Fetch_and_op) X(File_call_errhandler) X(File_close) X(File_create_errhandler) X(File_delete) X(File_get_amode) \
    X(File_get_atomicity) X(File_get_byte_offset) X(File_get_errhandler) X(File_get_group) X(File_get_info) \
    X(File_get_position) X(File_get_position_shared) X(File_get_size) X(File_get_type_extent) X(File_get_view) \
    X(File_iread) X(File_iread_all) X(File_iread_at) X(File_iread_at_all) X(File_iread_shared) X(File_iwrite) \
    X(File_iwrite_all) X(File_iwrite_at) X(File_iwrite_at_all) X(File_iwrite_shared) X(File_open) \
    X(File_preallocate) X(File_read) X(File_read_all) X(File_read_all_begin) X(File_read_all_end) X(File_read_at) \
    X(File_read_at_all) X(File_read_at_all_begin) X(File_read_at_all_end) X(File_read_ordered) \
    X(File_read_ordered_begin) X(File_read_ordered_end) X(File_read_shared) X(File_seek) X(File_seek_shared) \
    X(File_set_atomicity) X(File_set_errhandler) X(File_set_info) X(File_set_size) X(File_set_view) X(File_sync) \
    X(File_write) X(File_write_all) X(File_write_all_begin) X(File_write_all_end) X(File_write_at) \
    X(File_write_at_all) X(File_write_at_all_begin) X(File_write_at_all_end) X(File_write_ordered) \
    X(File_write_ordered_begin) X(File_write_ordered_end) X(File_write_shared) X(Finalize) X(Finalized) X(Free_mem) \
    X(Gather) X(Gatherv) X(Get) X(Get_accumulate) X(Get_address) X(Get_count) X(Get_elements) X(Get_elements_x) \
    X(Get_library_version) X(Get_processor_name) X(Get_version) X(Graph_create) X(Graph_get) X(Graph_map) \
    X(Graph_neighbors) X(Graph_neighbors_count) X(Graphdims_get) X(Grequest_complete) X(Grequest_start) \
    X(Group_compare) X(Group_difference) X(Group_excl) X(Group_free) X(Group_incl) X(Group_intersection) \
    X(Group_range_excl) X(Group_range_incl) X(Group_rank) X(Group_size) X(Group_translate_ranks) X(Group_union) \
    X(Iallgather) X(Iallgatherv) X(Iallreduce) X(Ialltoall) X(Ialltoallv) X(Ialltoallw) X(Ibarrier) X(Ibcast) \
    X(Ibsend) X(Iexscan) X(Igather) X(Igatherv) X(Improbe) X(Imrecv) X(Ineighbor_allgather) X(Ineighbor_allgatherv) \
    X(Ineighbor_alltoall) X(Ineighbor_alltoallv) X(Ineighbor_alltoallw) X(Info_create) X(Info_delete) X(Info_dup) \
    X(Info_free) X(Info_get) X(Info_get_nkeys) X(Info_get_nthkey) X(Info_get_valuelen) X(Info_set) X(Init) \
    X(Init_thread) X(Initialized) X(Intercomm_create) X(Intercomm_merge) X(Iprobe) X(Irecv) X(Ireduce) \
    X(Ireduce_scatter) X(Ireduce_scatter_block) X(Irsend) X(Is_thread_main) X(Iscan) X(Iscatter) X(Iscatterv) \
    X(Isend) X(Issend) X(Keyval_create) X(Keyval_free) X(Lookup_name) X(Mprobe) X(Mrecv) X(Neighbor_allgather) \
    X(Neighbor_allgatherv) X(Neighbor_alltoall) X(Neighbor_alltoallv) X(Neighbor_alltoallw) X(Op_commutative) \
    X(Op_create) X(Op_free) X(Open_port) X(Pack) X(Pack_external) X(Pack_external_size) X(Pack_size) X(Pcontrol) \
    X(Probe) X(Publish_name) X(Put) X(Query_thread) X(Raccumulate) X(Recv) X(Recv_init) X(Reduce) X(Reduce_local) \
    X(Reduce_scatter) X(Reduce_scatter_block) X(Register_datarep) X(Request_free) X(Request_get_status) X(Rget) \
    X(Rget_accumulate) X(Rput) X(Rsend) X(Rsend_init) X(Scan) X(Scatter) X(Scatterv) X(Send) X(Send_init) \
    X(Sendrecv) X(Sendrecv_replace) X(Ssend) X(Ssend_init) X(Start) X(Startall) X(Status_set_cancelled) \
    X(Status_set_elements) X(Status_set_elements_x) X(Test) X(Test_cancelled) X(Testall) X(Testany) X(Testsome) \
    X(Topo_test) X(Type_commit) X(Type_contiguous) X(Type_create_darray) X(Type_create_f90_complex) \
    X(Type_create_f90_integer) X(Type_create_f90_real) X(Type_create_hindexed) X(Type_create_hindexed_block) \
    X(Type_create_hvector) X(Type_create_indexed_block) X(Type_create_keyval) X(Type_create_resized) \
    X(Type_create_struct) X(Type_create_subarray) X(Type_delete_attr) X(Type_dup) X(Type_extent) X(Type_free) \
    X(Type_free_keyval) X(Type_get_attr) X(Type_get_contents) X(Type_get_envelope) X(Type_get_extent) \
    X(Type_get_extent_x) X(Type_get_name) X(Type_get_true_extent) X(Type_get_true_extent_x) X(Type_hindexed) \
    X(Type_hvector) X(Type_indexed) X(Type_lb) X(Type_match_size) X(Type_set_attr) X(Type_set_name) X(Type_size) \
    X(Type_size_x) X(Type_struct) X(Type_ub) X(Type_vector) X(Unpack) X(Unpack_external) X(Unpublish_name) X(Wait) \
    X(Waitall) X(Waitany) X(Waitsome) X(Win_allocate) X(Win_allocate_cptr) X(Win_allocate_shared) \
    X(Win_allocate_shared_cptr) X(Win_attach) X(Win_call_errhandler) X(Win_complete) X(Win_create) \
    X(Win_create_dynamic) X(Win_create_errhandler) X(Win_create_keyval) X(Win_delete_attr) X(Win_detach) \
    X(Win_fence) X(Win_flush) X(Win_flush_all) X(Win_flush_local) X(Win_flush_local_all) X(Win_free) \
    X(Win_free_keyval) X(Win_get_attr) X(Win_get_errhandler) X(Win_get_group) X(Win_get_info) X(Win_get_name) \
    X(Win_lock) X(Win_lock_all) X(Win_post) X(Win_set_attr) X(Win_set_errhandler) X(Win_set_info) X(Win_set_name) \
    X(Win_shared_query) X(Win_shared_query_cptr) X(Win_start) X(Win_sync) X(Win_test) X(Win_unlock) \
    X(Win_unlock_all) X(Win_wait) X(Wtick) X(Wtime)

/* Predefined functions for attributes and data representations, which are part of the C library. */
#define FORTRAN_CALLBACKS(X) \
    X(comm_dup_fn) X(comm_null_copy_fn) X(comm_null_delete_fn) X(conversion_fn_null) X(dup_fn) X(null_copy_fn) \
    X(null_delete_fn) X(type_dup_fn) X(type_null_copy_fn) X(type_null_delete_fn) X(win_dup_fn) X(win_null_copy_fn) \
    X(win_null_delete_fn) X(aint_add_f90) X(aint_diff_f90) X(wtick_f90) X(wtime_f90)
