package storetest

import (
	"errors"
	"fmt"
	"sync"
	"time"

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

// oneWins lets a crowd write to one record: one caller succeeds, and all others get the error refused.
// It returns the record as the winner wrote it.
func (s *stage) oneWins(refused error, write func(i int) (store.Record, error)) store.Record {
	s.Helper()
	won := make(chan store.Record, crowd)
	runTogether(crowd, func(i int) {
		made, err := write(i)
		if err == nil {
			won <- made
		} else if !errors.Is(err, refused) {
			s.Errorf("got %v, want %v", err, refused)
		}
	})
	if len(won) != 1 {
		s.Fatalf("%d callers succeeded", len(won))
	}
	winner := <-won
	s.wantSame(s.mustGet(winner.Key), winner)
	return winner
}

// inTime fails unless call returns.
func (s *stage) inTime(call func()) {
	s.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		call()
	}()
	select {
	case <-done:
	case <-time.After(patience):
		s.Fatal("a call blocks")
	}
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
