package file

import "strconv"

// Hint is a hint of a file, with the value that is in force.
type Hint struct{ Key, Value string }

// Hints are what a program advises (MPI 5.0, 14.2.8), and ROMIO's names for the same. The zero value is that of a
// program that advises nothing.
type Hints struct {
	buffer, aggregators         int64 // cb_buffer_size, cb_nodes; 0: as the file finds best
	writeBuffer, readBuffer     int64 // ind_wr_buffer_size, ind_rd_buffer_size: windows of data sieving
	stripe, stripes             int64 // striping_unit, striping_factor
	collectWrites, collectReads choice
	sieveWrites, sieveReads     choice
}

// choice is whether a way may be taken.
type choice int

const (
	automatic choice = iota
	enable
	disable
)

var choices = [...]string{"automatic", "enable", "disable"}

// or is whether a way is taken that would be found to be the better one, or not.
func (c choice) or(better bool) bool { return c == enable || c == automatic && better }

// most is the largest size of a buffer that a hint can ask for.
const most = 1 << 30

// numbers are the hints that are numbers, in the order in which they are shown.
func (h *Hints) numbers() []struct {
	key string
	at  *int64
} {
	return []struct {
		key string
		at  *int64
	}{{"cb_buffer_size", &h.buffer}, {"cb_nodes", &h.aggregators}, {"ind_rd_buffer_size", &h.readBuffer},
		{"ind_wr_buffer_size", &h.writeBuffer}, {"striping_factor", &h.stripes}, {"striping_unit", &h.stripe}}
}

// switches are the hints that are choices.
func (h *Hints) switches() []struct {
	key string
	at  *choice
} {
	return []struct {
		key string
		at  *choice
	}{{"romio_cb_read", &h.collectReads}, {"romio_cb_write", &h.collectWrites}, {"romio_ds_read", &h.sieveReads},
		{"romio_ds_write", &h.sieveWrites}}
}

// Set takes a hint. One that is not known, or has a value that is none, is ignored (MPI 5.0, 10).
func (h *Hints) Set(key, value string) {
	if key == "collective_buffering" {
		for s, c := range map[string]choice{"true": enable, "false": disable} {
			if value == s {
				h.collectReads, h.collectWrites = c, c
			}
		}
	}
	for _, n := range h.numbers() {
		if v, err := strconv.ParseInt(value, 10, 64); n.key == key && err == nil && v > 0 {
			*n.at = min(v, most)
		}
	}
	for _, s := range h.switches() {
		for i, name := range choices {
			if s.key == key && name == value {
				*s.at = choice(i)
			}
		}
	}
}

// numbered are the hints as numbers, for members to agree on; fromNumbers reads them back.
func (h *Hints) numbered() (all []int64) {
	for _, n := range h.numbers() {
		all = append(all, *n.at)
	}
	for _, s := range h.switches() {
		all = append(all, int64(*s.at))
	}
	return all
}

func (h *Hints) fromNumbers(all []int64) {
	for i, n := range h.numbers() {
		*n.at = all[i]
	}
	for i, s := range h.switches() {
		*s.at = choice(all[len(h.numbers())+i])
	}
}

// Sizes where no hint says otherwise: windows of data sieving and of collective buffering fit in the second-level cache
// beside what is moved.
const (
	sieveBytes   = 512 << 10
	collectBytes = 512 << 10
	alignment    = 4096
)

// Hints are the hints of the file, with the values in force.
func (f *File) Hints() (list []Hint) {
	h := f.inForce()
	for _, n := range h.numbers() {
		if *n.at > 0 {
			list = append(list, Hint{n.key, strconv.FormatInt(*n.at, 10)})
		}
	}
	for _, s := range h.switches() {
		list = append(list, Hint{s.key, choices[*s.at]})
	}
	collect := h.collectWrites != disable || h.collectReads != disable
	return append(list, Hint{"collective_buffering", strconv.FormatBool(collect)})
}

// inForce are the hints with what the file has chosen where they say nothing.
func (f *File) inForce() Hints {
	h := f.hints
	or := func(v *int64, chosen int64) {
		if *v == 0 {
			*v = chosen
		}
	}
	or(&h.buffer, collectBytes)
	or(&h.writeBuffer, sieveBytes)
	or(&h.readBuffer, sieveBytes)
	h.aggregators = int64(len(f.aggregators()))
	return h
}

// SetHints takes hints. It is collective; the first member's hints hold for all.
func (f *File) SetHints(h Hints) error {
	own := h.numbered()
	all := make([]int64, len(own)*f.m.Size())
	if err := f.m.Allgather(own, all); err != nil {
		return err
	}
	f.hints.fromNumbers(all[:len(own)])
	return nil
}
