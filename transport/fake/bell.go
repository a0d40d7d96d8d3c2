package fake

import "time"

// Bell, PrepareSleep, Wait, DoneSleep and Wake are transport.Bell. A process that waits outside of Run has nobody to
// wait for, and returns at once.

func (p *proc) Bell() uint32 {
	p.w.mu.Lock()
	defer p.w.mu.Unlock()
	return p.bell
}

func (p *proc) PrepareSleep(v uint32) bool { return p.Bell() == v }

func (p *proc) Wait(v uint32, _ time.Duration) {
	w := p.w
	w.mu.Lock()
	if p.bell != v || !w.running {
		w.mu.Unlock()
		return
	}
	p.asleep, p.slept = true, v
	w.next()
	w.mu.Unlock()
	<-p.turn
}

func (p *proc) DoneSleep(uint32) {}

func (p *proc) Wake() {
	p.w.mu.Lock()
	p.bell++
	p.w.mu.Unlock()
}
