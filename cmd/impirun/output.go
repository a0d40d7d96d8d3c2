package main

import (
	"fmt"
	"time"

	"github.com/libimpi/libimpi/cmd/internal/options"
)

// prefixes answers what stands before a line of a rank, counted from first, or nil if ranks write without a relay.
func prefixes(plan *options.Plan, first int) func(rank int, stream string) func(b []byte, now time.Time) []byte {
	if plan.Tag == options.TagNone && !plan.Timestamp {
		return nil
	}
	return func(rank int, stream string) func(b []byte, now time.Time) []byte {
		tag := ""
		switch plan.Tag {
		case options.TagRank:
			tag = fmt.Sprintf("[%d] ", first+rank)
		case options.TagStream:
			tag = fmt.Sprintf("[%d,%d]<%s>:", plan.Rank, first+rank, stream)
		}
		return func(b []byte, now time.Time) []byte {
			if plan.Timestamp {
				b = append(now.AppendFormat(b, time.StampMicro), ' ')
			}
			return append(b, tag...)
		}
	}
}
