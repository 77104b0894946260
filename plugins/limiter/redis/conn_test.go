package redis

import (
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"
)

// A shorter time would make an outage of the first requests on a busy machine, although they wait.
func TestDialTimeoutMatchesTheRequestWait(t *testing.T) {
	for wait, want := range map[time.Duration]time.Duration{0: minDialTimeout, patient: patient} {
		s := open(t, config{settings: settings(t, "redis://127.0.0.1:1", "", wait), nodes: 1})
		client, ok := s.conn.client.(*goredis.Client)
		if !ok {
			t.Fatalf("%T", s.conn.client)
		}
		if got := client.Options().DialTimeout; got != want || s.conn.timeout < want+s.conn.maxWait {
			t.Errorf("a request waits %v: connecting takes up to %v, want %v, a round trip up to %v", s.conn.maxWait, got, want, s.conn.timeout)
		}
	}
}
