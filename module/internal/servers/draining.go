package servers

import (
	"context"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyevents"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

// maxDrain is how long an ending process still answers requests, with `Connection: close`, before
// Caddy closes its listeners and idle connections. The operator can set shutdown_delay for more.
const maxDrain = time.Second

// drainPoll is how often drain checks whether connections are left.
const drainPoll = 10 * time.Millisecond

// connections counts those that are open on the servers of one configuration.
type connections struct{ open atomic.Int64 }

func (c *connections) changed(_ net.Conn, state http.ConnState) {
	switch state {
	case http.StateNew:
		c.open.Add(1)
	case http.StateClosed, http.StateHijacked:
		c.open.Add(-1)
	}
}

// drainer drains the connections of a configuration when the process ends. Caddy calls its
// handlers of the event `stopping` one after the other, before it stops the servers.
type drainer struct {
	ctx     caddy.Context
	servers *Servers
}

// drainOnExit drains the connections of this configuration when the process ends. ctx is
// that of a handler's Provision: the events app is there, and has not started.
func (s *Servers) drainOnExit(ctx caddy.Context) error {
	v, err := ctx.App("events")
	if err != nil {
		return err
	}
	if events, ok := v.(*caddyevents.App); ok {
		return events.On("stopping", drainer{ctx, s})
	}
	return nil
}

// Handle implements caddyevents.Handler.
func (d drainer) Handle(ctx context.Context, _ caddy.Event) error {
	if !caddy.Exiting() {
		return nil // a reload
	}
	v, err := d.ctx.AppIfConfigured("http")
	if err != nil {
		return nil //nolint:nilerr // no servers, no connections
	}
	// Without a grace period Caddy waits for the slowest request, and nobody is in a hurry;
	// with shutdown_delay Caddy itself goes on serving before it closes anything.
	if servers, ok := v.(*caddyhttp.App); ok && servers.GracePeriod > 0 && servers.ShutdownDelay == 0 {
		d.servers.endPolls() // each keeps its connection open
		d.servers.connections.drain(ctx, min(maxDrain, time.Duration(servers.GracePeriod)))
	}
	return nil
}

// drain waits until no connection is open, for so long at most.
func (c *connections) drain(ctx context.Context, most time.Duration) {
	end := time.NewTimer(most)
	defer end.Stop()
	poll := time.NewTicker(drainPoll)
	defer poll.Stop()
	for c.open.Load() > 0 {
		select {
		case <-end.C:
			return
		case <-ctx.Done():
			return
		case <-poll.C:
		}
	}
}
