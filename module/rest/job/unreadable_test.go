package job

import (
	"testing"
	"testing/synctest"
	"time"
)

// Such as one of a newer release, while the nodes are updated one after the other.
func TestUnreadableJobDoesNotHoldUpOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, w := newShelf(), newWork(nil)
		q := node(t, s, w, "a")
		unreadable, next := submit(t, q), submit(t, q)
		s.spoil(unreadable.ID)
		q.Start()
		defer q.Stop()
		time.Sleep(lookAround + time.Millisecond)
		if got := find(t, q, next.ID); got.State != Succeeded {
			t.Errorf("the next job is %s", got.State)
		}
		if s.unfinished() != 1 || w.begun(unreadable.ID) != 0 {
			t.Error("the job that cannot be read is not left alone")
		}
	})
}

func (s *shelf) spoil(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.jobs[id]
	r.Value = []byte(`{"v":2}`)
	s.jobs[id] = r
}
