package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"

	"github.com/gatehouse/gatehouse/deploy/bench/internal/load"
)

// writeProfiles writes a CPU profile of each row's gateway while it answers the row's requests.
// Only Caddy has one.
func (b *bench) writeProfiles(ctx context.Context, groups []*group) error {
	for _, g := range groups {
		for _, r := range g.all() {
			if r.gateway.admin == "" {
				continue
			}
			file := b.outFile(fileName(r.name) + ".pprof")
			say("writing %s", file)
			if err := b.writeProfile(ctx, r, file); err != nil {
				return fmt.Errorf("profile of %s: %w", r.name, err)
			}
		}
	}
	return nil
}

func (b *bench) writeProfile(ctx context.Context, r *row, file string) (err error) {
	c, err := load.Open(b.request(r))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	sent := make(chan error, 1)
	go func() {
		_, err := c.Run(b.options.profile + time.Second)
		sent <- err
	}()
	profile, err := fetch(ctx, fmt.Sprintf("http://%s/debug/pprof/profile?seconds=%d", r.gateway.admin, int(b.options.profile.Seconds())))
	if err := errors.Join(err, <-sent); err != nil {
		return err
	}
	return os.WriteFile(file, profile, 0o644)
}

func fetch(ctx context.Context, url string) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, err
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode != http.StatusOK {
		return nil, errors.New(res.Status)
	}
	return io.ReadAll(res.Body)
}
