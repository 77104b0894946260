package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gatehouse/gatehouse/deploy/bench/internal/load"
	"github.com/gatehouse/gatehouse/deploy/bench/internal/proc"
	"github.com/gatehouse/gatehouse/deploy/bench/internal/ratio"
)

// lead is how long requests are sent before a slice, so that what waited for its turn is in
// the caches of the processor again.
const lead = 150 * time.Millisecond

// rotate measures each row once, with the base of its group beside it. A rotation below 0
// warms up, and is forgotten.
func (b *bench) rotate(ctx context.Context, groups []*group, n int) error {
	length := b.options.slice
	if n < 0 {
		length = min(length, 500*time.Millisecond)
		say("warming up")
	} else {
		say("rotation %d of %d", n+1, b.options.rotations)
	}
	for _, g := range groups {
		if g.halfLoad && g.rate == 0 {
			full, err := b.measure(g.base, 0, length)
			if err != nil {
				return err
			}
			g.rate = full.rate / 2
		}
		turn := rotation{schedule: ratio.Schedule(len(g.rows), max(0, n))}
		for _, who := range turn.schedule {
			if err := ctx.Err(); err != nil {
				return err
			}
			r := g.base
			if who != ratio.Base {
				r = g.rows[who]
			}
			s, err := b.measure(r, g.rate, length)
			if err != nil {
				return fmt.Errorf("%s: %w", r.name, err)
			}
			value := g.value(s)
			if g.plus != nil && who == ratio.Base {
				more, err := g.plus()
				if err != nil {
					return err
				}
				value += more
			}
			turn.values = append(turn.values, value)
			if n >= 0 {
				r.slices = append(r.slices, s)
			}
		}
		if n >= 0 {
			g.rotation = append(g.rotation, turn)
		}
	}
	return nil
}

// measure sends the requests of a row for some time.
func (b *bench) measure(r *row, rate float64, length time.Duration) (s slice, err error) {
	c, err := load.Open(b.request(r))
	if err != nil {
		return s, err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	send := c.Run
	if rate > 0 {
		send = func(length time.Duration) (*load.Result, error) { return c.RunAt(rate, length) }
	}
	if _, err := send(lead); err != nil {
		return s, err
	}
	pids := []int{r.gateway.process.pid(), b.redis.pid(), b.upstream.pid()}
	var used [3]time.Duration
	for i, pid := range pids {
		if used[i], err = proc.CPU(pid); err != nil {
			return s, err
		}
	}
	result, err := send(length)
	if err != nil {
		return s, err
	}
	if result.Count() == 0 {
		return s, errors.New("no response within the slice")
	}
	for i, pid := range pids {
		now, err := proc.CPU(pid)
		if err != nil {
			return s, err
		}
		used[i] = now - used[i]
	}
	perRequest := func(used time.Duration) float64 { return float64(used.Microseconds()) / float64(result.Count()) }
	s = slice{
		cpu: perRequest(used[0]), upstreamCPU: perRequest(used[2]),
		rate: result.Rate(), p50: result.Quantile(0.5), p99: result.Quantile(0.99),
		refused: 100 * float64(result.Refused) / float64(result.Count()),
	}
	if r.redis {
		s.redisCPU = perRequest(used[1])
	}
	if r.beside != nil {
		if s.beside, err = r.beside(); err != nil {
			return s, err
		}
	}
	s.resident, err = proc.Resident(r.gateway.process.pid())
	return s, err
}
