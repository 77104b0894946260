package sourcetest

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gatehouse/gatehouse/module/ratelimit"
)

func (b *bench) decideInParallel(n int, charges func(i int) []ratelimit.Charge, each func(i int, v ratelimit.Verdict)) {
	var all sync.WaitGroup
	start := make(chan struct{})
	for i := range n {
		all.Go(func() {
			<-start
			v, err := b.source.Decide(context.Background(), ratelimit.Request{Charges: charges(i)})
			if err != nil {
				b.Error(err)
			}
			each(i, v)
		})
	}
	close(start)
	all.Wait()
}

func atOnce(b *bench) { // L01
	p := &ratelimit.Policy{Name: "p", Limit: 100, Window: 10 * time.Second}
	charges := []ratelimit.Charge{{Policy: p, Subject: b.newSubject()}}
	var passed atomic.Int64
	b.decideInParallel(1000, func(int) []ratelimit.Charge { return charges }, func(_ int, v ratelimit.Verdict) {
		if v.Admitted {
			passed.Add(1)
		}
	})
	if passed.Load() != 100 {
		b.Fatalf("%d passed, want 100", passed.Load())
	}
}

// Of 10 users, 5 share a client whose limit is below the sum of theirs. Had a refusal by
// one policy consumed from the other, less than the limits would have passed.
func severalAtOnce(b *bench) {
	user := &ratelimit.Policy{Name: "user", Limit: 30, Window: time.Minute}
	client := &ratelimit.Policy{Name: "client", Limit: 100, Window: time.Minute}
	subject := b.newSubject()
	users, clients := make([]string, 10), []string{subject + "-c0", subject + "-c1"}
	for i := range users {
		users[i] = b.newSubject()
	}
	var perUser [10]atomic.Int64
	b.decideInParallel(1000, func(i int) []ratelimit.Charge {
		c := []ratelimit.Charge{{Policy: user, Subject: users[i%10]}, {Policy: client, Subject: clients[i%10/5]}}
		if i%3 == 0 {
			c[0], c[1] = c[1], c[0]
		}
		return c
	}, func(i int, v ratelimit.Verdict) {
		if v.Admitted {
			perUser[i%10].Add(1)
		}
	})
	var perClient [2]int64
	for i := range perUser {
		n := perUser[i].Load()
		if n > 30 {
			b.Errorf("user %d: %d passed, want at most 30", i, n)
		}
		perClient[i/5] += n
		if r := b.decide(31, ratelimit.Charge{Policy: user, Subject: users[i]}); r.Results[0].Remaining != 30-n {
			b.Errorf("user %d: %d passed, %d remain", i, n, r.Results[0].Remaining)
		}
	}
	if perClient != [2]int64{100, 100} {
		b.Errorf("%v passed, want 100 for each client", perClient)
	}
}
