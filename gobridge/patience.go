package main

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/libimpi/libimpi/abi"
)

// patience is how long processes of another job are waited for: what the info key timeout says, in seconds, as in other
// implementations, or else the setting IMPI_CONNECT_TIMEOUT. 0 is nothing said.
type patience time.Duration

// nobodyComes is what members hear of a root that has started programs without MPI.
const nobodyComes = patience(-time.Second)

// defaultConnectTime and mostConnectTime, in seconds, are of the setting.
const (
	defaultConnectTime = 120
	mostConnectTime    = 1 << 30
)

func (p patience) String() string { return time.Duration(p).String() }

// context is one that ends when the time is over; never, if nothing is said.
func (p patience) context() (context.Context, context.CancelFunc) {
	if p == 0 {
		return context.WithCancel(context.Background())
	}
	return context.WithTimeout(context.Background(), time.Duration(p))
}

// seconds are the whole seconds of it, and one more for what is left: how others are told.
func (p patience) seconds() int32 {
	if p == nobodyComes {
		return -1
	}
	return int32((time.Duration(p) + time.Second - 1) / time.Second)
}

func patienceOf(seconds int32) patience { return patience(time.Duration(seconds) * time.Second) }

// patience reads the info key.
func (k *check) patience(with *info) patience {
	if with == nil {
		return 0
	}
	value, ok := with.get("timeout")
	if !ok {
		return 0
	}
	s, err := strconv.ParseFloat(value, 64)
	if err != nil || math.IsNaN(s) || s <= 0 || s > mostConnectTime {
		k.set(abi.MPI_ERR_INFO_VALUE, "the value of info key timeout (%.100q) is not a positive number of seconds", value)
		return 0
	}
	return max(1, patience(s*float64(time.Second)))
}

// parseConnectTime reads the setting.
func parseConnectTime(text string) (patience, error) {
	if text == "" {
		return patienceOf(defaultConnectTime), nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > mostConnectTime {
		return 0, fmt.Errorf("IMPI_CONNECT_TIMEOUT=%q is not a number of seconds from 1 to %d", text, mostConnectTime)
	}
	return patienceOf(int32(n)), nil
}
