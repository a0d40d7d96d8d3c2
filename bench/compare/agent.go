package main

import "strings"

// What an agent costs: a message between two clients through their agents, beside one on a direct connection and one
// over three TCP connections with plain relays between them, which block (hops.c). agent:hops3 and agent:3direct are
// the ratios within the round, at most 1 if an agent is as good as three hops.

// agents measures 8 bytes, 64 KiB and 1 MiB. The other implementations have no agent, so they have no figures here.
func agents(l *library) ([]sample, error) {
	if l.name != ours {
		return nil, nil
	}
	j := job{ranks: 2, path: l.mpibench, args: []string{"hops"}, tcp: true, more: []string{"-via", "agent"}}
	agent, err := l.samples(j)
	if err != nil {
		return nil, err
	}
	j.more = []string{"-via", "direct"}
	direct, err := l.samples(j)
	if err != nil {
		return nil, err
	}
	relays, err := plain(l, "hops")
	if err != nil {
		return nil, err
	}
	return compareHops(agent, direct, relays), nil
}

// compareHops puts the figures of one round together: for each size those of the agent, of a direct connection and of
// three plain hops, and the ratios of the first to three times the second and to the third.
func compareHops(agent, direct, plain []sample) []sample {
	var all []sample
	for _, s := range agent {
		_, size, _ := strings.Cut(s.metric, "/")
		d, _ := valueOf(direct, s.metric)
		p, _ := valueOf(plain, "hops3/"+size)
		if d == 0 || p == 0 {
			continue
		}
		all = append(all, sample{"agent/" + size, s.value, "us"}, sample{"direct/" + size, d, "us"}, sample{"hops3/" + size,
			p, "us"},
			sample{"agent:3direct/" + size, s.value / (3 * d), "x"}, sample{"agent:hops3/" + size, s.value / p, "x"})
	}
	return all
}
