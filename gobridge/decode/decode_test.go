package decode

import (
	"encoding/binary"
	"strings"
	"testing"

	"github.com/libimpi/libimpi/abi"
)

// process is one with a communicator of ranks 4 to 6 of the world, which this is rank 1 of, and some memory.
type process struct{ memory map[uint64][]byte }

const (
	sub   = 1<<56 | 5000
	typ   = 2<<56 | 5001
	array = 0x10000
	text  = 0x20000
)

func (process) Name(kind string, h uint64) string {
	return map[string]map[uint64]string{"COMMUNICATOR": {sub: "rows"}, "DATATYPE": {typ: "particle"}}[kind][h]
}

func (process) Members(kind string, h uint64) (size, rank int, ok bool) {
	switch {
	case kind == "COMMUNICATOR" && h == sub:
		return 3, 1, true
	case kind == "COMMUNICATOR" && h == abi.MPI_COMM_WORLD:
		return 8, 5, true
	}
	return 0, 0, false
}

func (process) World(kind string, h uint64, rank int) (int, bool) {
	if h == sub {
		return 4 + rank, rank >= 0 && rank < 3
	}
	return rank, h == abi.MPI_COMM_WORLD && rank >= 0 && rank < 8
}

func (p process) Read(at uint64, b []byte) int {
	for begin, m := range p.memory {
		if begin <= at && at < begin+uint64(len(m)) {
			return copy(b, m[at-begin:])
		}
	}
	return 0
}

func ints(list ...int32) (b []byte) {
	for _, v := range list {
		b = binary.NativeEndian.AppendUint32(b, uint32(v))
	}
	return b
}

func words(list ...uint64) (b []byte) {
	for _, v := range list {
		b = binary.NativeEndian.AppendUint64(b, v)
	}
	return b
}

func function(name string) abi.Call {
	for i := range abi.Calls() {
		if c := abi.CallNumbered(i); c.Name == name {
			return c
		}
	}
	panic(name)
}

const minus = ^uint64(0) // -1; -2 is minus - 1

func TestArgumentsAreInWords(t *testing.T) {
	for _, c := range []struct {
		name   string
		args   []uint64
		memory []byte // at array
		want   string
	}{
		{"MPI_Send", []uint64{0x7ffe10, 1, abi.MPI_INT, 9, 3, abi.MPI_COMM_WORLD}, nil,
			"buf=0x7ffe10, count=1, datatype=MPI_INT, dest=9, tag=3, comm=MPI_COMM_WORLD"},
		{"MPI_Recv", []uint64{0, minus, typ, minus, minus - 1, sub, 0}, nil, "buf=NULL, count=-1, datatype=particle, " +
			"source=MPI_ANY_SOURCE, tag=MPI_ANY_TAG, comm=rows, status=MPI_STATUS_IGNORE"},
		{"MPI_Send_c", []uint64{0x7ffe10, 1 << 40, 3<<56 | 77, 2, 0, sub}, nil, "buf=0x7ffe10, count=1099511627776, " +
			"datatype=0x30000000000004d, dest=2 (rank 6 of MPI_COMM_WORLD), tag=0, comm=rows"},
		{"MPI_Send", []uint64{0x99, 1, abi.MPI_INT, minus, minus, abi.MPI_COMM_WORLD}, nil, "buf=0x99, count=1, " +
			"datatype=MPI_INT, dest=MPI_ANY_SOURCE, tag=-1, comm=MPI_COMM_WORLD"},
		{"MPI_Bcast", []uint64{1, 0, 0, 0, 0}, nil,
			"buffer=MPI_IN_PLACE, count=0, datatype=0, root=0, comm=0"},
		{"MPI_Allreduce", []uint64{abi.MPI_IN_PLACE, 0x99, 4, abi.MPI_DOUBLE, abi.MPI_SUM, abi.MPI_COMM_NULL}, nil,
			"sendbuf=MPI_IN_PLACE, recvbuf=0x99, count=4, datatype=MPI_DOUBLE, op=MPI_SUM, comm=MPI_COMM_NULL"},
		{"MPI_Allgatherv", []uint64{0x1, 2, abi.MPI_INT, 0x50, array, array + 12, abi.MPI_INT, sub}, ints(2, 3, -4, 0, 2, 5),
			"sendbuf=MPI_IN_PLACE, sendcount=2, sendtype=MPI_INT, recvbuf=0x50, recvcounts=[2, 3, -4], displs=[0, 2, 5], " +
				"recvtype=MPI_INT, comm=rows"},
		{"MPI_Allgatherv_c", []uint64{0x1, 2, abi.MPI_INT, 0x50, array, array + 24, abi.MPI_INT, sub},
			words(2, 3, 1<<33, 0, 2, 5), "sendbuf=MPI_IN_PLACE, sendcount=2, sendtype=MPI_INT, recvbuf=0x50, " +
				"recvcounts=[2, 3, 8589934592], displs=[0, 2, 5], recvtype=MPI_INT, comm=rows"},
		{"MPI_Gatherv", []uint64{0x60, 2, abi.MPI_INT, 0x50, array, array, abi.MPI_INT, 2, sub}, nil,
			"sendbuf=0x60, sendcount=2, sendtype=MPI_INT, recvbuf=0x50, recvcounts=0x10000, displs=0x10000, " +
				"recvtype=MPI_INT, root=2 (rank 6 of MPI_COMM_WORLD), comm=rows"},
		{"MPI_Allgatherv", []uint64{0x60, 2, abi.MPI_INT, 0x50, array, 0, abi.MPI_INT, sub}, ints(2, 3),
			"sendbuf=0x60, sendcount=2, sendtype=MPI_INT, recvbuf=0x50, recvcounts=0x10000, which is not all memory, " +
				"displs=NULL, recvtype=MPI_INT, comm=rows"},
		{"MPI_Waitall", []uint64{2, array, 0}, words(abi.MPI_REQUEST_NULL, 77), "count=2, " +
			"array_of_requests=[MPI_REQUEST_NULL, 0x4d], array_of_statuses=MPI_STATUSES_IGNORE"},
		{"MPI_Wait", []uint64{array, 0x55}, words(abi.MPI_REQUEST_NULL), "request=&MPI_REQUEST_NULL, status=0x55"},
		{"MPI_Comm_free", []uint64{array}, words(sub), "comm=&rows"},
		{"MPI_Comm_free", []uint64{0x30}, nil, "comm=0x30"},
		{"MPI_Comm_dup", []uint64{sub, 0x30}, nil, "comm=rows, newcomm=0x30"},
		{"MPI_File_open", []uint64{abi.MPI_COMM_WORLD, text, abi.MPI_MODE_CREATE | abi.MPI_MODE_WRONLY, abi.MPI_INFO_NULL,
			0x30}, nil, `comm=MPI_COMM_WORLD, filename="a \"b\"", amode=MPI_MODE_CREATE|MPI_MODE_WRONLY, ` +
			`info=MPI_INFO_NULL, fh=0x30`},
		{"MPI_File_open", []uint64{abi.MPI_COMM_WORLD, 0x33, 1 << 30, abi.MPI_INFO_NULL, 0}, nil, `comm=MPI_COMM_WORLD, ` +
			`filename=0x33, which is no memory, amode=1073741824, info=MPI_INFO_NULL, fh=NULL`},
		{"MPI_Group_incl", []uint64{abi.MPI_GROUP_EMPTY, 10, array, 0}, ints(0, 1, 2, 3, 4, 5, 6, 7, 8, 9),
			"group=MPI_GROUP_EMPTY, n=10, ranks=[0, 1, 2, 3, 4, 5, 6, 7, ... 10 in all], newgroup=NULL"},
		{"MPI_Group_range_incl", []uint64{abi.MPI_GROUP_EMPTY, 1, array, 0}, ints(0, 4, 2),
			"group=MPI_GROUP_EMPTY, n=1, ranges=[0, 4, 2], newgroup=NULL"},
		{"MPI_Cart_create", []uint64{sub, 2, array, array + 8, 1, 0}, ints(2, 2, 0, 1), "comm_old=rows, ndims=2, " +
			"dims=[2, 2], periods=[0 (false), 1 (true)], reorder=1 (true), comm_cart=NULL"},
		{"MPI_Win_lock", []uint64{abi.MPI_LOCK_SHARED, 1, abi.MPI_MODE_NOCHECK, abi.MPI_WIN_NULL}, nil,
			"lock_type=MPI_LOCK_SHARED, rank=1, assert=MPI_MODE_NOCHECK, win=MPI_WIN_NULL"},
		{"MPI_Comm_split", []uint64{sub, uint64(0xffffffffffff8002), 0, 0}, nil, "comm=rows, color=MPI_UNDEFINED, key=0, " +
			"newcomm=NULL"},
		{"MPI_Abort", []uint64{abi.MPI_COMM_WORLD, 3}, nil, "comm=MPI_COMM_WORLD, errorcode=MPI_ERR_TYPE"},
		{"MPI_Barrier", nil, nil, ""},
	} {
		p := process{map[uint64][]byte{array: c.memory, text: []byte("a \"b\"\x00more")}}
		var got []string
		for _, a := range Arguments(function(c.name), c.args, p) {
			got = append(got, a.Name+"="+a.Text)
		}
		if s := strings.Join(got, ", "); s != c.want {
			t.Errorf("%s:\n%s, and not\n%s", c.name, s, c.want)
		}
	}
}

func TestTheCommunicatorAndThePeerOfACall(t *testing.T) {
	for _, c := range []struct {
		name string
		args []uint64
		on   string
		peer int // -1: none
	}{
		{"MPI_Send", []uint64{1, 1, abi.MPI_INT, 2, 3, sub}, "rows: 3 processes, this is rank 1", 6},
		{"MPI_Send", []uint64{1, 1, abi.MPI_INT, 3, 3, sub}, "rows: 3 processes, this is rank 1", -1},
		{"MPI_Recv", []uint64{1, 1, abi.MPI_INT, 7, 3, abi.MPI_COMM_WORLD, 0},
			"MPI_COMM_WORLD: 8 processes, this is rank 5", 7},
		{"MPI_Recv", []uint64{1, 1, abi.MPI_INT, minus, 3, abi.MPI_COMM_WORLD, 0},
			"MPI_COMM_WORLD: 8 processes, this is rank 5", -1},
		{"MPI_Bcast", []uint64{1, 1, abi.MPI_INT, 1, sub}, "rows: 3 processes, this is rank 1", -1},
		{"MPI_Send", []uint64{1, 1, abi.MPI_INT, 3, 3, abi.MPI_COMM_NULL}, "", -1},
		{"MPI_Wait", []uint64{array, 0}, "", -1},
	} {
		p := process{}
		peer, ok := Peer(function(c.name), c.args, p)
		if !ok {
			peer = -1
		}
		if on := On(function(c.name), c.args, p); on != c.on || peer != c.peer {
			t.Errorf("%s: %q, %d", c.name, on, peer)
		}
	}
}

// Every function can be decoded with every argument 0, -1 or an address, of memory or not.
func TestNoArgumentIsTooOdd(t *testing.T) {
	p := process{map[uint64][]byte{array: words(1, 2, 3), text: []byte("no end")}}
	for i := range abi.Calls() {
		c := abi.CallNumbered(i)
		for _, v := range []uint64{0, minus, array, text, sub, 1 << 31, 12} {
			args := make([]uint64, len(c.Params))
			for k := range args {
				args[k] = v
			}
			if got := Arguments(c, args, p); len(got) != len(args) {
				t.Errorf("%s: %v", c.Name, got)
			}
			On(c, args, p)
			Peer(c, args, p)
		}
	}
}
