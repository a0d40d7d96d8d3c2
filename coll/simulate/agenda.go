package simulate

// agenda is what is to happen: at each moment first ranks go on, then places look after their ports, until there is
// nothing left to do at that moment. Many ranks share few moments, so that there is a list for each of them.
type agenda struct {
	now     Time
	moments map[Time]*moment
	times   []Time // a heap of the keys of moments
	last    *moment
	free    []*moment
}

// moment is what is to happen at one time.
type moment struct {
	at     Time
	ranks  []int32
	places []int32
}

func (a *agenda) moment(t Time) *moment {
	if a.last != nil && a.last.at == t {
		return a.last
	}
	m := a.moments[t]
	if m == nil {
		if n := len(a.free); n > 0 {
			m, a.free = a.free[n-1], a.free[:n-1]
		} else {
			m = &moment{}
		}
		m.at = t
		a.moments[t] = m
		a.push(t)
	}
	a.last = m
	return m
}

// rank has rank r go on at time t.
func (a *agenda) rank(t Time, r int32) {
	m := a.moment(t)
	m.ranks = append(m.ranks, r)
}

// place has a place look after its ports at time t.
func (a *agenda) place(t Time, p int32) {
	m := a.moment(t)
	m.places = append(m.places, p)
}

// next returns what happens first, and sets the clock. It is nil if nothing does. The moment before is over.
func (a *agenda) next() *moment {
	if m := a.moments[a.now]; m != nil && len(m.ranks) == 0 && len(m.places) == 0 {
		delete(a.moments, a.now)
		a.free = append(a.free, m)
		a.last = nil
	}
	if len(a.times) == 0 {
		return nil
	}
	a.now = a.pop()
	return a.moments[a.now]
}

func (a *agenda) push(t Time) {
	h := append(a.times, t)
	i := len(h) - 1
	for i > 0 && h[(i-1)/2] > t {
		h[i] = h[(i-1)/2]
		i = (i - 1) / 2
	}
	h[i] = t
	a.times = h
}

func (a *agenda) pop() Time {
	h := a.times
	first, t := h[0], h[len(h)-1]
	h = h[:len(h)-1]
	i := 0
	for c := 1; c < len(h); c = 2*i + 1 {
		if c+1 < len(h) && h[c+1] < h[c] {
			c++
		}
		if t <= h[c] {
			break
		}
		h[i] = h[c]
		i = c
	}
	if len(h) > 0 {
		h[i] = t
	}
	a.times = h
	return first
}
