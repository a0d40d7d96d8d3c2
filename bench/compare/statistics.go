package main

import (
	"fmt"
	"math"

	"github.com/aclements/go-moremath/stats"
	"golang.org/x/perf/benchmath"
)

// benchmath interpolates between values, which makes no number of infinite ones: these are so large meanwhile.
const large = 1e12

// summary is the median of some values, and the interval in which the median of all values that might have been
// measured lies with a confidence, infinite where there are too few. Nothing is assumed of how values scatter.
func summary(v []float64, confidence float64) benchmath.Summary {
	finite := make([]float64, len(v))
	for i, x := range v {
		finite[i] = max(-large, min(large, x))
	}
	s := benchmath.AssumeNothing.Summary(benchmath.NewSample(finite, &benchmath.DefaultThresholds), confidence)
	for _, x := range []*float64{&s.Center, &s.Lo, &s.Hi} {
		if math.Abs(*x) >= large/2 {
			*x = math.Inf(int(math.Copysign(1, *x)))
		}
	}
	return s
}

func median(v []float64) float64 { return summary(v, anyConfidence).Center }

// anyConfidence is for a summary of which nobody looks at the interval.
const anyConfidence = 0.5

// interval is the confidence interval of a median, as text; "" if so few values have none.
func interval(v []float64, confidence float64) string {
	if len(v) < 2 {
		return ""
	}
	s := summary(v, confidence)
	if math.IsInf(s.Lo, 0) || math.IsInf(s.Hi, 0) {
		return ""
	}
	return fmt.Sprintf(" [%s, %s]", number(s.Lo), number(s.Hi))
}

// geometricMean is that of ratios: twice as long and half as long make one.
func geometricMean(ratios []float64) float64 { return stats.GeoMean(ratios) }
