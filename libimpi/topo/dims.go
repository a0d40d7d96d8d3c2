package topo

import (
	"math"
	"slices"
	"sort"

	"github.com/libimpi/libimpi/abi"
)

// DimsCreate fills in the dimensions that are 0, so that the product of all is nnodes (MPI 5.0, 8.5.2). Those it
// sets are as close to each other as the divisors of nnodes allow - no other choice has a smaller difference
// between the largest and the smallest, nor, if it has the same, a smaller largest - and do not increase. Errors:
// MPI_ERR_DIMS, and MPI_ERR_ARG for a number of nodes that is not positive.
func DimsCreate(nnodes int, dims []int32) error {
	if nnodes < 1 {
		return errorf(abi.MPI_ERR_ARG, "argument nnodes is %d", nnodes)
	}
	if len(dims) == 0 {
		return nil
	}
	rest, open := nnodes, 0
	for i, d := range dims {
		switch {
		case d < 0:
			return errorf(abi.MPI_ERR_DIMS, "dims[%d] is negative: %d", i, d)
		case d == 0:
			open++
		case rest%int(d) != 0:
			return errorf(abi.MPI_ERR_DIMS, "%d nodes are not a multiple of the product of the given dimensions %v",
				nnodes, dims)
		default:
			rest /= int(d)
		}
	}
	if open == 0 && rest > 1 {
		return errorf(abi.MPI_ERR_DIMS, "the given dimensions %v are not those of a grid of %d nodes", dims, nnodes)
	}
	factors := balanced(rest, open)
	for i, d := range dims {
		if d == 0 {
			dims[i], factors = int32(factors[0]), factors[1:]
		}
	}
	return nil
}

// factoring is the search for the most balanced k factors of n. It goes through factorings whose factors do not
// increase, from the largest factor that is closest to the k-th root upwards, and leaves a branch as soon as it
// cannot come to a smaller spread than the best so far (branch and bound).
type factoring struct {
	divisors  []int // of n, ascending
	now, best []int
	spread    int // largest less smallest factor of best
}

// balanced returns k factors of n, from large to small.
func balanced(n, k int) []int {
	if k == 0 {
		return nil
	}
	f := factoring{divisors: divisors(n), now: make([]int, k), best: make([]int, k), spread: math.MaxInt}
	f.search(0, n)
	return f.best
}

// search fills now[i:] with factors of rest in all ways that may be better than best.
func (f *factoring) search(i, rest int) {
	left := len(f.now) - i
	if left == 1 {
		if f.now[i] = rest; (i == 0 || rest <= f.now[i-1]) && f.now[0]-rest < f.spread {
			f.spread = f.now[0] - rest
			copy(f.best, f.now)
		}
		return
	}
	// The largest of the factors that are left is not below their mean.
	least := sort.Search(len(f.divisors), func(d int) bool { return !powerBelow(f.divisors[d], left, rest) })
	for _, factor := range f.divisors[least:] {
		if i > 0 && factor > f.now[i-1] {
			return
		}
		if rest%factor != 0 {
			continue
		}
		f.now[i] = factor
		// The smallest is not above the mean of those that follow, and this falls as factor grows.
		if f.now[0]-root(rest/factor, left-1) >= f.spread {
			return
		}
		f.search(i+1, rest/factor)
	}
}

// divisors are all divisors of n, ascending.
func divisors(n int) (all []int) {
	for d := 1; d*d <= n; d++ {
		if n%d == 0 {
			all = append(all, d)
			if d*d != n {
				all = append(all, n/d)
			}
		}
	}
	slices.Sort(all)
	return all
}

// powerBelow reports whether b to the k-th is less than n, for k > 0.
func powerBelow(b, k, n int) bool {
	p := 1
	for ; k > 0 && p < n; k-- {
		if b == 1 {
			break
		}
		p *= b // at most n * n, with n below 2^31
	}
	return p < n
}

// root is the integer part of the k-th root of n, for n > 0.
func root(n, k int) int {
	if k == 1 {
		return n
	}
	r := max(1, int(math.Pow(float64(n), 1/float64(k)))) // right, or beside it
	for powerBelow(r+1, k, n+1) {
		r++
	}
	for !powerBelow(r, k, n+1) {
		r--
	}
	return r
}
