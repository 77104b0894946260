package storetest

import (
	"fmt"
	"sync"

	"github.com/gatehouse/gatehouse/module/store"
)

// crowd is how many callers come at once.
const crowd = 64

// runTogether lets n callers begin at one moment and waits for all of them.
func runTogether(n int, call func(i int)) {
	var begin, done sync.WaitGroup
	begin.Add(1)
	for i := range n {
		done.Go(func() {
			begin.Wait()
			call(i)
		})
	}
	begin.Done()
	done.Wait()
}

// createMany creates n records with IDs from 00000, by many callers at once, so that a
// store which waits for a disk is filled in reasonable time.
func (s *stage) createMany(kind store.Kind, parent string, n int) {
	s.Helper()
	next := make(chan int, n)
	for i := range n {
		next <- i
	}
	close(next)
	runTogether(crowd, func(int) {
		for i := range next {
			if _, err := s.Create(s.ctx, newRecord(kind, fmt.Sprintf("%05d", i), parent, "x")); err != nil {
				s.Errorf("Create number %d: %v", i, err)
			}
		}
	})
	if s.Failed() {
		s.FailNow()
	}
}
