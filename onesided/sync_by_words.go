package onesided

// byWords is synchronization by words that all members map.
type byWords struct{ *Window }

func (w byWords) post(group []int, _ bool) error {
	w.words.Post(group)
	return nil
}

func (w byWords) start(group []int, unasked bool) error { return w.words.Start(group, unasked) }

func (w byWords) complete(group []int) error {
	for _, r := range group {
		if err := w.flush(r); err != nil {
			return err
		}
	}
	w.words.Complete(group)
	return nil
}

func (w byWords) wait(group []int) error { return w.words.Wait(group) }
func (w byWords) test(group []int) bool  { return w.words.Test(group) }

func (w byWords) lock(target int, exclusive bool) error { return w.words.Lock(target, exclusive) }

func (w byWords) unlock(target int, exclusive bool) error {
	w.words.Unlock(target, exclusive)
	return nil
}
