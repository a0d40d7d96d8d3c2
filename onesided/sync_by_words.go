package onesided

// byWords is synchronization by words that all members map.
type byWords struct{ *Window }

func (w byWords) post(group []int, _ bool) error {
	w.words.Post(group)
	return nil
}

func (w byWords) start(group []int, unasked bool) error { return w.words.Start(group, unasked) }

func (w byWords) complete(group []int) (err error) {
	for _, r := range group {
		if bad := w.flush(r); err == nil {
			err = bad
		}
	}
	w.words.Complete(group)
	return err
}

func (w byWords) wait(group []int) error { return w.words.Wait(group) }
func (w byWords) test(group []int) bool  { return w.words.Test(group) }

func (w byWords) lock(target int, exclusive bool) error { return w.words.Lock(target, exclusive) }

func (w byWords) unlock(target int, exclusive bool) error {
	return w.words.Unlock(target, exclusive)
}
