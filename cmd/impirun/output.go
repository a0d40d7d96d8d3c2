package main

import (
	"fmt"
	"time"

	"github.com/libimpi/libimpi/cmd/internal/options"
)

// prefixes answers what stands before a line of a rank, or nil if ranks write without a relay. ranks are their numbers,
// nil if these count from 0. job stands before the rank, if that is one of a job that was spawned.
func prefixes(plan *options.Plan, ranks []int, job string) func(rank int, stream string) func(b []byte,
	now time.Time) []byte {
	if plan.Tag == options.TagNone && !plan.Timestamp {
		return nil
	}
	return func(rank int, stream string) func(b []byte, now time.Time) []byte {
		tag, number := "", rankIn(ranks, rank)
		switch plan.Tag {
		case options.TagRank:
			tag = fmt.Sprintf("[%s%d] ", job, number)
		case options.TagStream:
			tag = fmt.Sprintf("[%d,%s%d]<%s>:", plan.Rank, job, number, stream)
		}
		return func(b []byte, now time.Time) []byte {
			if plan.Timestamp {
				b = append(now.AppendFormat(b, time.StampMicro), ' ')
			}
			return append(b, tag...)
		}
	}
}
