package shm

import (
	"bytes"
	"sync/atomic"
	"testing"
	"unsafe"
)

func TestAGrowingRecordIsDeliveredWhenAllOfItIsThere(t *testing.T) {
	var got []packet
	from, to := two(t, 2, keep(&got))
	if err := from.seg.openOut(1); err != nil {
		t.Fatal(err)
	}
	_, ring := from.seg.ringAt(0, 1)
	r := (*growingRecord)(ring)
	payload := bytes.Repeat([]byte{7}, 1000)
	r.tag, r.cid, r.lsrank = 3, 4, 0
	atomic.StoreUint32(&r.filled, 500)
	atomic.StoreUint32(&r.state, formGrowing|1000<<lengthShift)
	for range 3 {
		if to.Poll() || to.PollFrom(0) || len(got) != 0 {
			t.Fatalf("delivered before it was there: %v", got)
		}
	}
	copy(unsafe.Slice((*byte)(unsafe.Add(ring, lineBytes)), 1000), payload)
	atomic.StoreUint32(&r.filled, 1000)
	if !to.PollFrom(0) || len(got) != 1 || got[0].H.Tag != 3 || got[0].H.MsgLen != 1000 || !bytes.Equal(got[0].Payload,
		payload) {
		t.Fatalf("delivered %v", got)
	}
	if to.Poll() || len(got) != 1 {
		t.Fatal("delivered again")
	}
}
