package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/gatehouse/gatehouse/deploy/bench/internal/load"
)

// bench has everything that runs for the measurements.
type bench struct {
	options     options
	dir         string
	ports       ports
	bareProgram string
	tls         *tls.Config
	signer      *signer

	upstream, redis               *process
	upstreamAddress, redisAddress string
	issuer                        *gateway
	tokens                        map[tokenSet]*load.Tokens
	started                       []*gateway
}

// newBench starts what all gateways need.
func newBench(o options) (_ *bench, err error) {
	if err := os.MkdirAll(o.out, 0o755); err != nil {
		return nil, err
	}
	b := &bench{options: o, ports: ports{next: o.port}, tokens: make(map[tokenSet]*load.Tokens)}
	if b.dir, err = os.MkdirTemp(o.out, "run-"); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			b.close()
		}
	}()
	say("building Caddy without Gatehouse")
	if b.bareProgram, err = buildBare(o.out); err != nil {
		return nil, err
	}
	if b.tls, err = writeCertificate(b.file("cert.pem"), b.file("key.pem")); err != nil {
		return nil, err
	}
	if b.signer, err = newSigner(); err != nil {
		return nil, err
	}
	if err := b.startUpstream(); err != nil {
		return nil, err
	}
	if err := b.startRedis(); err != nil {
		return nil, err
	}
	b.issuer = b.newGatehouse("issuer", gatehouse{site: "oauth_server\n"}) // issues all tokens
	return b, nil
}

// prepare issues the tokens, starts the gateways of the rows that are measured, and sends
// the requests that come before.
func (b *bench) prepare(ctx context.Context) (groups []*group, leftOut []string, err error) {
	if err := b.issuer.start(b.issuer); err != nil {
		return nil, nil, err
	}
	b.started = append(b.started, b.issuer)
	groups = b.selected()
	if len(groups) == 0 {
		return nil, nil, errors.New("-only: no row has such a name")
	}
	if err := b.makeTokens(ctx, groups); err != nil {
		return nil, nil, err
	}
	b.issuer.process.stop() // the others copy its state
	if err := b.issuer.start(b.issuer); err != nil {
		return nil, nil, err
	}
	say("starting the gateways")
	for _, g := range groups {
		for _, r := range g.all() {
			if err := ctx.Err(); err != nil {
				return nil, nil, err
			}
			switch err := b.startGateway(r.gateway); {
			case err != nil && r.peer:
				leftOut = append(leftOut, fmt.Sprintf("%s: %v", r.name, err))
				g.rows = slices.DeleteFunc(slices.Clone(g.rows), func(other *row) bool { return other == r })
			case err != nil:
				return nil, nil, err
			default:
				if err := b.prime(ctx, r); err != nil {
					return nil, nil, fmt.Errorf("%s: %w", r.name, err)
				}
			}
		}
	}
	for _, line := range leftOut {
		say("left out: %s", line)
	}
	return groups, leftOut, nil
}

// selected are the groups with the rows that -only names.
func (b *bench) selected() []*group {
	var groups []*group
	for _, g := range b.groups() {
		g.rows = slices.DeleteFunc(g.rows, func(r *row) bool { return !b.options.only.MatchString(r.name) })
		if len(g.rows) > 0 {
			groups = append(groups, g)
		}
	}
	return groups
}

func (b *bench) startGateway(g *gateway) error {
	if g.process != nil {
		return nil
	}
	if err := g.start(g); err != nil {
		return err
	}
	b.started = append(b.started, g)
	return nil
}

// makeTokens issues as many tokens as the rows need.
func (b *bench) makeTokens(ctx context.Context, groups []*group) error {
	n := clients
	for _, g := range groups {
		if slices.ContainsFunc(g.rows, func(r *row) bool { return r.tokens == allTokens }) {
			n = b.options.live
		}
	}
	say("issuing %d tokens", n)
	live, err := b.mint(ctx, n)
	if err != nil {
		return err
	}
	of, err := peerTokens(clients, b.file("peer.pem"))
	if err != nil {
		return err
	}
	for set, tokens := range map[tokenSet][]string{oneToken: live[:1], fewTokens: live[:100], someTokens: live[:clients], allTokens: live, forgedTokens: forge(live[:clients]), tokensOfPeers: of} {
		b.tokens[set] = load.NewTokens(tokens)
	}
	return nil
}

// prime sends the requests of a row that come before anything is measured.
func (b *bench) prime(ctx context.Context, r *row) error {
	if r.primes == 0 || r.streams > 0 {
		return nil
	}
	c, err := load.Open(b.request(r))
	if err != nil {
		return err
	}
	defer context.AfterFunc(ctx, func() { _ = c.Close() })()
	return errors.Join(c.Prime(r.primes), ctx.Err(), c.Close())
}

// close stops everything and removes its files.
func (b *bench) close() {
	processes := []*process{b.upstream, b.redis}
	for _, g := range b.started {
		processes = append(processes, g.process)
	}
	for _, p := range processes {
		if p != nil {
			p.stop()
		}
	}
	if err := os.RemoveAll(b.dir); err != nil {
		say("%v", err)
	}
}

// say tells on standard error what goes on.
func say(format string, values ...any) { fmt.Fprintf(os.Stderr, format+"\n", values...) }

// outFile is a path in the folder of the results.
func (b *bench) outFile(name string) string { return filepath.Join(b.options.out, name) }
