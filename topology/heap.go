package topology

// heap holds nodes, the one with the largest gain first and among equals the one with the smallest number. Several
// heaps over the same nodes share gain and at, because a node is in one of them at most.
type heap struct {
	nodes []int32
	gain  []int64 // by node
	at    []int32 // by node: its place in the heap that it is in, -1 if in none
}

func (h *heap) before(i, j int) bool {
	a, b := h.nodes[i], h.nodes[j]
	if h.gain[a] != h.gain[b] {
		return h.gain[a] > h.gain[b]
	}
	return a < b
}

func (h *heap) swap(i, j int) {
	h.nodes[i], h.nodes[j] = h.nodes[j], h.nodes[i]
	h.at[h.nodes[i]], h.at[h.nodes[j]] = int32(i), int32(j)
}

func (h *heap) up(i int) {
	for i > 0 && h.before(i, (i-1)/2) {
		h.swap(i, (i-1)/2)
		i = (i - 1) / 2
	}
}

func (h *heap) down(i int) {
	for {
		c := 2*i + 1
		if c >= len(h.nodes) {
			return
		}
		if c+1 < len(h.nodes) && h.before(c+1, c) {
			c++
		}
		if !h.before(c, i) {
			return
		}
		h.swap(i, c)
		i = c
	}
}

// put adds a node, or moves it to the place of its new gain.
func (h *heap) put(v int32, gain int64) {
	h.gain[v] = gain
	if h.at[v] < 0 {
		h.at[v] = int32(len(h.nodes))
		h.nodes = append(h.nodes, v)
	}
	h.up(int(h.at[v]))
	h.down(int(h.at[v]))
}

// drop removes a node if it is there.
func (h *heap) drop(v int32) {
	i := int(h.at[v])
	if i < 0 {
		return
	}
	last := len(h.nodes) - 1
	h.swap(i, last)
	h.nodes = h.nodes[:last]
	h.at[v] = -1
	if i < last {
		h.up(i)
		h.down(i)
	}
}

// top is the first node, -1 if there is none.
func (h *heap) top() int32 {
	if len(h.nodes) == 0 {
		return -1
	}
	return h.nodes[0]
}
