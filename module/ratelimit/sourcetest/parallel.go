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
	b.wantLimitAtOnce("")
	b.wantLimitAtOnce(ratelimit.BySubject)
}

func (b *bench) wantLimitAtOnce(place string) {
	p := &ratelimit.Policy{Name: "p", Limit: 100, Window: 10 * time.Second, Place: place}
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

// Of 20 users, each has a limit for every request and a lower one for half of them.
func severalOfOneSubjectAtOnce(b *bench) {
	const users, requests = 20, 2000
	all := &ratelimit.Policy{Name: "all", Limit: 60, Window: time.Minute, Place: ratelimit.BySubject}
	some := &ratelimit.Policy{Name: "some", Limit: 20, Window: time.Minute, Place: ratelimit.BySubject}
	subjects := make([]string, users)
	for i := range subjects {
		subjects[i] = b.newSubject()
	}
	var passed [users][2]atomic.Int64
	b.decideInParallel(requests, func(i int) []ratelimit.Charge {
		c := []ratelimit.Charge{{Policy: some, Subject: subjects[i%users]}, {Policy: all, Subject: subjects[i%users]}}
		return c[i/users%2:]
	}, func(i int, v ratelimit.Verdict) {
		if v.Admitted {
			passed[i%users][i/users%2].Add(1)
		}
	})
	for i, s := range subjects {
		both, one := passed[i][0].Load(), passed[i][1].Load()
		if both > 20 || both+one != 60 {
			b.Errorf("user %d: %d and %d passed, want at most 20, and 60 in all", i, both, one)
		}
		v := b.decide(61, ratelimit.Charge{Policy: some, Subject: s}, ratelimit.Charge{Policy: all, Subject: s})
		if v.Results[0].Remaining != 20-both || v.Results[1].Remaining != 0 {
			b.Errorf("user %d: %d passed under the lower limit; left are %+v", i, both, v.Results)
		}
	}
}

// Of 10 users, 5 share a client whose limit is below the sum of theirs. Had a refusal by
// one policy consumed from the other, less than the limits would have passed.
func severalAtOnce(b *bench) {
	b.wantLimitsAtOnce("", "")
	b.wantLimitsAtOnce(ratelimit.BySubject, "common")
	b.wantLimitsAtOnce("common", ratelimit.BySubject)
}

func (b *bench) wantLimitsAtOnce(userPlace, clientPlace string) {
	user := &ratelimit.Policy{Name: "user", Limit: 30, Window: time.Minute, Place: userPlace}
	client := &ratelimit.Policy{Name: "client", Limit: 100, Window: time.Minute, Place: clientPlace}
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
