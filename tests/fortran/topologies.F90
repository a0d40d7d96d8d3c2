! Grids, graphs, and collective communication between their neighbors.
#include "binding.h"
module topologies
  USE_MPI
  use checks
  implicit none
  INCLUDE_MPI
  private
  public :: topologies_tests
contains
  subroutine topologies_tests
    call grids
    call parts_of_grids
    call graphs
    call distributed_graphs
    call adjacent
    call neighbors_of_grids
  end subroutine

  subroutine grids
    COMM_T :: grid
    integer :: dims(2), coords(2), n, r, from, to, status, e
    logical :: periods(2)
    dims = (/ 0, 1 /)
    call MPI_Dims_create(ranks, 2, dims, e)
    CHECK(dims(1) == ranks .and. dims(2) == 1)
    call MPI_Cart_create(MPI_COMM_WORLD, 2, dims, (/ .true., .false. /), .false., grid, e)
    call MPI_Topo_test(grid, status, e)
    CHECK(status == MPI_CART)
    call MPI_Cartdim_get(grid, n, e)
    CHECK(n == 2)
    call MPI_Cart_get(grid, 2, dims, periods, coords, e)
    CHECK(dims(1) == ranks .and. periods(1) .and. .not. periods(2) .and. coords(1) == rank .and. coords(2) == 0)
    CHECK((periods(1) .eqv. .true.) .and. (periods(2) .eqv. .false.))
    call MPI_Cart_coords(grid, ranks - 1, 2, coords, e)
    CHECK(coords(1) == ranks - 1)
    call MPI_Cart_rank(grid, (/ -1, 0 /), r, e)
    CHECK(r == ranks - 1)
    call MPI_Cart_shift(grid, 0, 1, from, to, e)
    CHECK(from == left() .and. to == right())
    call MPI_Cart_shift(grid, 1, 1, from, to, e)
    CHECK(from == MPI_PROC_NULL .and. to == MPI_PROC_NULL)
    call MPI_Cart_map(MPI_COMM_WORLD, 2, dims, periods, r, e)
    CHECK(r >= 0 .and. r < ranks)
    call MPI_Comm_free(grid, e)
  end subroutine

  subroutine parts_of_grids
    COMM_T :: grid, line
    integer :: n, e
    call MPI_Cart_create(MPI_COMM_WORLD, 2, (/ 1, ranks /), (/ .false., .false. /), .true., grid, e)
    call MPI_Cart_sub(grid, (/ .false., .true. /), line, e)
    call MPI_Comm_size(line, n, e)
    CHECK(n == ranks)
    call MPI_Comm_free(line, e)
    call MPI_Cart_sub(grid, (/ .true., .false. /), line, e)
    call MPI_Comm_size(line, n, e)
    CHECK(n == 1)
    call MPI_Comm_free(line, e)
    call MPI_Comm_free(grid, e)
  end subroutine

  ! A ring.
  subroutine graphs
    COMM_T :: ring
    integer :: index(ranks), edges(2 * ranks), nodes, n, list(2), out(1), in(2), i, e
    index = (/ (2 * i, i = 1, ranks) /)
    do i = 0, ranks - 1
      edges(2 * i + 1) = mod(i + ranks - 1, ranks)
      edges(2 * i + 2) = mod(i + 1, ranks)
    end do
    call MPI_Graph_create(MPI_COMM_WORLD, ranks, index, edges, .false., ring, e)
    call MPI_Graphdims_get(ring, nodes, n, e)
    CHECK(nodes == ranks .and. n == 2 * ranks)
    index = 0
    edges = -1
    call MPI_Graph_get(ring, ranks, 2 * ranks, index, edges, e)
    CHECK(index(ranks) == 2 * ranks .and. edges(2 * rank + 1) == left() .and. edges(2 * rank + 2) == right())
    call MPI_Graph_neighbors_count(ring, rank, n, e)
    CHECK(n == 2)
    call MPI_Graph_neighbors(ring, rank, 2, list, e)
    CHECK(list(1) == left() .and. list(2) == right())
    call MPI_Graph_map(MPI_COMM_WORLD, ranks, index, edges, n, e)
    CHECK(n >= 0 .and. n < ranks)
    out = rank
    call MPI_Neighbor_allgather(out, 1, MPI_INTEGER, in, 1, MPI_INTEGER, ring, e)
    CHECK(in(1) == left() .and. in(2) == right())
    call MPI_Comm_free(ring, e)
  end subroutine

  ! Everyone has an edge to the right of weight 10 + rank.
  subroutine distributed_graphs
    COMM_T :: g
    integer :: sources(1), targets(1), from(1), to(1), n, m, e
    logical :: weighted
    sources = rank
    targets = right()
    call MPI_Dist_graph_create(MPI_COMM_WORLD, 1, sources, (/ 1 /), targets, (/ 10 + rank /), MPI_INFO_NULL, .false., g, e)
    call MPI_Dist_graph_neighbors_count(g, n, m, weighted, e)
    CHECK(n == 1 .and. m == 1 .and. weighted)
    call MPI_Dist_graph_neighbors(g, 1, sources, from, 1, targets, to, e)
    CHECK(sources(1) == left() .and. targets(1) == right() .and. from(1) == 10 + left() .and. to(1) == 10 + rank)
    call MPI_Comm_free(g, e)
    sources = rank
    targets = right()
    call MPI_Dist_graph_create(MPI_COMM_WORLD, 1, sources, (/ 1 /), targets, MPI_UNWEIGHTED, MPI_INFO_NULL, .false., g, e)
    call MPI_Dist_graph_neighbors_count(g, n, m, weighted, e)
    CHECK(n == 1 .and. m == 1 .and. .not. weighted)
    sources = -1
    call MPI_Dist_graph_neighbors(g, 1, sources, MPI_UNWEIGHTED, 1, targets, MPI_UNWEIGHTED, e)
    CHECK(sources(1) == left() .and. targets(1) == right())
    call MPI_Comm_free(g, e)
  end subroutine

  ! From both neighbors, to the right only. The last process has no source, and says so.
  subroutine adjacent
    COMM_T :: g
    integer :: n, m, e, in(2), counts(2), displs(2), none(1)
    integer(MPI_ADDRESS_KIND) :: places(2)
    DATATYPE_T :: types(2)
    logical :: weighted
    call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, (/ left(), left() /), (/ 1, 2 /), 2, (/ right(), right() /), &
      (/ 1, 2 /), MPI_INFO_NULL, .false., g, e)
    call MPI_Dist_graph_neighbors_count(g, n, m, weighted, e)
    CHECK(n == 2 .and. m == 2 .and. weighted)
    counts = 1
    displs = (/ 1, 0 /)
    in = -1
    call MPI_Neighbor_alltoallv((/ 20 + rank, 10 + rank /), counts, displs, MPI_INTEGER, in, counts, displs, MPI_INTEGER, g, e)
    CHECK(in(2) == 10 + left() .and. in(1) == 20 + left())
    places = (/ 0, storage_size(in) / 8 /)
    types = MPI_INTEGER
    in = -1
    call MPI_Neighbor_alltoallw((/ 1, rank /), counts, places, types, in, counts, places, types, g, e)
    CHECK(in(1) == 1 .and. in(2) == left())
    call MPI_Comm_free(g, e)
    call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 0, none, MPI_WEIGHTS_EMPTY, 0, none, MPI_WEIGHTS_EMPTY, &
      MPI_INFO_NULL, .false., g, e)
    call MPI_Dist_graph_neighbors_count(g, n, m, weighted, e)
    CHECK(n == 0 .and. m == 0 .and. weighted)
    call MPI_Comm_free(g, e)
  end subroutine

  subroutine neighbors_of_grids
    COMM_T :: line
    REQUEST_T :: r(3)
    integer ASYNC :: out(2), in(2), inv(2), inw(2), counts(2), displs(2)
    integer(MPI_ADDRESS_KIND) ASYNC :: places(2)
    DATATYPE_T ASYNC :: types(2)
    integer :: e
    call MPI_Cart_create(MPI_COMM_WORLD, 1, (/ ranks /), (/ .true. /), .false., line, e)
    out = (/ 10 + rank, 20 + rank /)  ! to the left, to the right
    call MPI_Neighbor_alltoall(out, 1, MPI_INTEGER, in, 1, MPI_INTEGER, line, e)
    CHECK(in(1) == 20 + left() .and. in(2) == 10 + right() .or. ranks < 3)
    counts = 1
    displs = (/ 0, 1 /)
    places = (/ 0, storage_size(out) / 8 /)
    types = MPI_INTEGER
    in = 0
    inv = 0
    inw = 0
    call MPI_Ineighbor_allgather(rank, 1, MPI_INTEGER, in, 1, MPI_INTEGER, line, r(1), e)
    call MPI_Ineighbor_alltoallv(out, counts, displs, MPI_INTEGER, inv, counts, displs, MPI_INTEGER, line, r(2), e)
    call MPI_Ineighbor_alltoallw(out, counts, places, types, inw, counts, places, types, line, r(3), e)
    call MPI_Waitall(3, r, MPI_STATUSES_IGNORE, e)
    CHECK(in(1) == left() .and. in(2) == right())
    CHECK(all(inv == inw))
    CHECK(inw(1) == 20 + left() .and. inw(2) == 10 + right() .or. ranks < 3)
    call MPI_Neighbor_allgatherv(rank, 1, MPI_INTEGER, in, counts, displs, MPI_INTEGER, line, e)
    CHECK(in(1) == left() .and. in(2) == right())
    call MPI_Comm_free(line, e)
  end subroutine
end module
