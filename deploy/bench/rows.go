package main

import (
	"time"

	"github.com/gatehouse/gatehouse/deploy/bench/internal/load"
)

// tokenSet names tokens that requests bear in turn.
type tokenSet int

const (
	noTokens tokenSet = iota
	oneToken
	fewTokens  // of 100 clients
	someTokens // one of each client, 1,000
	allTokens  // 100,000 unless -live says otherwise
	forgedTokens
	tokensOfPeers // 1,000, RS256
)

// row is what is measured in a slice: requests of one kind to one gateway.
type row struct {
	name    string
	gateway *gateway
	redis   bool // its CPU counts too
	peer    bool // not of this project; left out if it is not installed
	path    string
	form    string // makes it a POST of a client
	status  int
	tokens  tokenSet
	primes  int // requests that are sent before anything is measured
	streams int // over HTTP/2
	// connections are those of -connections if 0.
	connections int
	// bound and aim are the most and the hoped-for ratio, 0 for none.
	bound, aim float64

	// beside, if not nil, is measured after each slice, in microseconds of CPU.
	beside func() (float64, error)

	slices []slice // those after the warm-up
}

// group is a base and what is compared with it.
type group struct {
	title string
	base  *row
	rows  []*row
	// plus, if not nil, is measured after each slice of the base, in microseconds of CPU, and
	// added to it.
	plus func() (float64, error)
	// halfLoad has requests sent at half the rate that the base reaches. The 99th percentile
	// of latency is compared instead of CPU.
	halfLoad bool

	rate     float64 // 0: as fast as they are answered
	rotation []rotation
}

// rotation is what was measured in one turn: for each slice, whose it was and the figure
// that is compared.
type rotation struct {
	schedule []int
	values   []float64
}

// value is the figure of a slice that a group compares.
func (g *group) value(s slice) float64 {
	if g.halfLoad {
		return s.p99.Seconds()
	}
	return s.cpu + s.redisCPU
}

// all lists the rows with the base in front.
func (g *group) all() []*row { return append([]*row{g.base}, g.rows...) }

// slice is what was measured of a gateway for some seconds.
type slice struct {
	cpu, redisCPU, upstreamCPU float64 // microseconds a request
	rate                       float64 // requests a second
	p50, p99                   time.Duration
	refused                    float64 // percent of the responses that were 503
	resident                   int64   // bytes, at the end
	beside                     float64 // what the row measures beside it
}

// request is what the row sends.
func (b *bench) request(r *row) load.Target {
	address, connections := r.gateway.http, b.options.connections
	if r.streams > 0 {
		address = r.gateway.https
	}
	if r.connections > 0 {
		connections = r.connections
	}
	t := load.Target{
		Address: address, Status: r.status, Connections: connections, Streams: r.streams, TLS: b.tls,
		Request: load.Request{Method: "GET", Path: r.path, Host: "localhost:" + port(address), Tokens: b.tokens[r.tokens]},
	}
	if t.Status == 0 {
		t.Status = 200
	}
	if r.form != "" {
		t.Request.Method, t.Request.Body = "POST", r.form
		t.Request.Fields = []string{"Content-Type: application/x-www-form-urlencoded", "Authorization: Basic " + basic}
	}
	return t
}
