package main

import (
	"fmt"
	"strings"
)

// lengths of arrays whose row has none.
var lengths = map[string]string{
	"MPI_Cart_rank coords": "dimensions(Comm_in(*comm))", "MPI_Cart_sub remain_dims": "dimensions(Comm_in(*comm))",
	"MPI_Dist_graph_create destinations":           "sum(degrees, *n)",
	"MPI_Dist_graph_create weights":                "sum(degrees, *n)",
	"MPI_Dist_graph_create_adjacent sourceweights": "*indegree",
	"MPI_Dist_graph_create_adjacent destweights":   "*outdegree",
	"MPI_Dist_graph_neighbors sourceweights":       "*maxindegree",
	"MPI_Dist_graph_neighbors destweights":         "*maxoutdegree",
	"MPI_Graph_create edges":                       "last(index, *nnodes)", "MPI_Graph_map edges": "last(index, *nnodes)",
	"MPI_Waitall array_of_statuses": "*count", "MPI_Testall array_of_statuses": "*count",
	"MPI_Request_get_status_all array_of_statuses": "*count",
}

// length is the C of the number of elements of an array.
func (e *entry) length(a Argument) string {
	if n, ok := lengths[e.p.Name+" "+a.Name]; ok {
		return n
	}
	switch a.Length {
	case "*":
	case "[n, 3]":
		return "3 * (int64_t)*n"
	default:
		return "*" + a.Length
	}
	name := e.p.Name
	switch {
	case strings.HasSuffix(name, "some"):
		return "*incount"
	case strings.Contains(name, "eighbor_"):
		return fmt.Sprintf("neighbors(Comm_in(*comm), %v)", boolToInt(strings.HasPrefix(a.Name, "s")))
	}
	return "peers(Comm_in(*comm))"
}

func boolToInt(b bool) int {
	if b {
		return 1
	}
	return 0
}
