package handler

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse/gatehouse/module/directory"
)

// faulty is a directory whose Lookup takes some time and fails while fault is set.
type faulty struct {
	directory.Directory
	takes time.Duration
	fault error
	asked int
}

func (f *faulty) Lookup(ctx context.Context, id string) (directory.User, bool, error) {
	f.asked++
	select {
	case <-time.After(f.takes):
		return directory.User{ID: id, Name: "Ann"}, true, f.fault
	case <-ctx.Done():
		return directory.User{}, false, ctx.Err()
	}
}

// N17: a directory that does not answer holds up few requests to APIs, and those for a second.
func TestHangingDirectoryDelaysFewRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &faulty{}
		n := NewUserNames(d)
		want := func(ctx context.Context, name string, took time.Duration, asked int) {
			t.Helper()
			begun := time.Now()
			d.asked = 0
			if got := n.name(ctx, "u-1"); got != name || time.Since(begun) != took || d.asked != asked {
				t.Errorf("N17 %q after %v, asked %d times; want %q after %v, %d", got, time.Since(begun), d.asked, name, took, asked)
			}
		}
		want(t.Context(), "Ann", 0, 1)
		d.fault = errors.New("a row cannot be used") // costs nothing, and is about one user
		want(t.Context(), "", 0, 1)
		want(t.Context(), "", 0, 1)
		d.takes = time.Hour
		gone, leave := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer leave()
		want(gone, "", 300*time.Millisecond, 1) // a client that goes away says nothing about the directory
		for range 3 {
			want(t.Context(), "", nameTimeout, 1)
			for range 3 {
				want(t.Context(), "", 0, 0)
			}
			time.Sleep(namePause)
		}
		go n.name(t.Context(), "u-1") // who asks again is one
		synctest.Wait()
		want(t.Context(), "", 0, 0)
		time.Sleep(nameTimeout + namePause)
		d.takes, d.fault = slowFault, nil
		want(t.Context(), "Ann", slowFault, 1)
		want(t.Context(), "Ann", slowFault, 1)
	})
}
