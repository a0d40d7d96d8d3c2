package mpit

// Measure is one handle's own view of a number that only grows, and that others look at, too: how much it has grown
// while the handle was started. What is written or reset changes this handle's value, and no other's.
type Measure struct {
	sum, from uint64
	running   bool
}

// Running reports whether it is started.
func (m *Measure) Running() bool { return m.running }

// Start begins to follow the number, which is now raw.
func (m *Measure) Start(raw uint64) {
	if !m.running {
		m.from, m.running = raw, true
	}
}

// Stop keeps the value as it is now.
func (m *Measure) Stop(raw uint64) {
	m.sum, m.running = m.Read(raw), false
}

// Read is the value.
func (m *Measure) Read(raw uint64) uint64 {
	if m.running {
		return m.sum + raw - m.from
	}
	return m.sum
}

// Write makes v the value.
func (m *Measure) Write(raw, v uint64) { m.sum, m.from = v, raw }
