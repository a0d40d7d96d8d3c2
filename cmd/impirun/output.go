package main

import (
	"fmt"
	"time"

	"github.com/libimpi/libimpi/cmd/internal/options"
)

// prefixes answers what stands before a line of a rank, counted from first, or nil if ranks write without a relay. job
// stands before the rank, if that is one of a job that was spawned.
func prefixes(plan *options.Plan, first int, job string) func(rank int, stream string) func(b []byte,
	now time.Time) []byte {
	if plan.Tag == options.TagNone && !plan.Timestamp {
		return nil
	}
	return func(rank int, stream string) func(b []byte, now time.Time) []byte {
		tag := ""
		switch plan.Tag {
		case options.TagRank:
			tag = fmt.Sprintf("[%s%d] ", job, first+rank)
		case options.TagStream:
			tag = fmt.Sprintf("[%d,%s%d]<%s>:", plan.Rank, job, first+rank, stream)
		}
		return func(b []byte, now time.Time) []byte {
			if plan.Timestamp {
				b = append(now.AppendFormat(b, time.StampMicro), ' ')
			}
			return append(b, tag...)
		}
	}
}
