package authserver

import (
	"context"
	"time"
)

// SetPause has a test's clock pass the time that EndSubject would sleep.
func (s *Server) SetPause(f func(time.Duration)) {
	s.pause = func(_ context.Context, d time.Duration) { f(d) }
}
