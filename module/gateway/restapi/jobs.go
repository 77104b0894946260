package restapi

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/gatehouse/gatehouse/module/gateway"
	"github.com/gatehouse/gatehouse/module/internal/handler"
	"github.com/gatehouse/gatehouse/module/internal/rest/jobapi"
	"github.com/gatehouse/gatehouse/module/internal/rest/operation"
	"github.com/gatehouse/gatehouse/module/internal/rest/reststore"
	"github.com/gatehouse/gatehouse/module/internal/secret"
	"github.com/gatehouse/gatehouse/module/rest/envelope"
	"github.com/gatehouse/gatehouse/module/rest/job"
)

// jobs is the part that takes jobs and answers for them.
type jobs struct {
	h      *REST
	app    *gateway.App
	api    *jobapi.Handler
	queues map[string]*job.Queue // by the path that makes them
}

// node names this process in the records of the jobs it runs.
var node = secret.ID()

// fingerprint is what the handler is made from, before guests are loaded out of it.
func (h *REST) fingerprint() string {
	if len(h.Jobs) == 0 {
		return ""
	}
	b, err := json.Marshal(h)
	if err != nil {
		return secret.ID() // like no other
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// takeJobs builds the queues, which the app starts and stops.
func (h *REST) takeJobs(ctx caddy.Context, from string) error {
	if len(h.Jobs) == 0 {
		return nil
	}
	app, err := gateway.FindApp(ctx, "api_rest")
	if err != nil {
		return fmt.Errorf("api_rest: jobs are kept in its store: %w", err)
	}
	p := &jobs{h: h, app: app, queues: make(map[string]*job.Queue)}
	p.api = &jobapi.Handler{Trace: app.Traced, Identity: handler.IdentityHeader, Address: handler.ClientAddress}
	stored := reststore.Jobs{Backend: app.Store()}
	for _, c := range h.Jobs {
		q, err := job.NewQueue(job.QueueConfig{
			Config: c, Store: stored, Index: stored, Do: p.do, Hold: app.Hold, Fair: jobapi.Fair,
			NewID: secret.ID, Node: node, Now: time.Now, Log: h.log,
			Observer: jobapi.NewObserver(c.Defaulted().Name, app.Trail()),
		})
		if err != nil {
			return fmt.Errorf("api_rest: %w", err)
		}
		path := "/" + q.Path
		if p.queues[path] != nil {
			return fmt.Errorf("api_rest: job %s is declared twice", q.Path)
		}
		p.queues[path] = q
		p.api.Queues = append(p.api.Queues, q)
		if err := app.Attach("job "+q.Name, from, q); err != nil {
			return fmt.Errorf("api_rest: job %s: %w", q.Path, err)
		}
	}
	h.parts = append(h.parts, p)
	return nil
}

// serve implements part.
func (p *jobs) serve(w http.ResponseWriter, c *call) (bool, error) {
	path := c.choice.Path
	if id, ok := strings.CutPrefix(path, jobapi.Path); ok && !strings.Contains(id, "/") {
		if c.choice.Unacceptable {
			return true, unacceptable
		}
		return true, p.held(w, func() error { return p.api.ServeJob(w, &c.Call, id) })
	}
	q := p.queues[path]
	if q == nil {
		return false, nil
	}
	if c.Request.Method != http.MethodPost {
		if q.When == "preferred" || c.declares(path) {
			return false, nil
		}
		return true, operation.Allow(w, c.Request, "POST, OPTIONS")
	}
	wish := job.ParsePrefer(c.Request.Header)
	if q.When == "preferred" {
		w.Header().Add("Vary", "Prefer")
		if !wish.Async && !wish.Waits {
			return false, nil
		}
	}
	if c.choice.Unacceptable {
		return true, unacceptable
	}
	return true, p.held(w, func() error { return p.begin(w, c, q, wish) })
}

// declares reports that a declared resource has the path too.
func (c *call) declares(path string) bool {
	_, declared, _ := c.table.Match(http.MethodGet, path)
	return declared
}

// held keeps the store open while a request runs.
func (p *jobs) held(w http.ResponseWriter, serve func() error) error {
	release, err := p.app.Hold()
	if err != nil {
		return envelope.Unavailable(err)
	}
	defer release()
	return serve()
}
