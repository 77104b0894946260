package restapi

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/gatehouse/gatehouse/module/gateway"
	"github.com/gatehouse/gatehouse/module/internal/handler"
	"github.com/gatehouse/gatehouse/module/internal/pool"
	"github.com/gatehouse/gatehouse/module/internal/rest/jobapi"
	"github.com/gatehouse/gatehouse/module/internal/rest/workers"
	"github.com/gatehouse/gatehouse/module/internal/secret"
	"github.com/gatehouse/gatehouse/module/rest/envelope"
	"github.com/gatehouse/gatehouse/module/rest/job"
	"github.com/gatehouse/gatehouse/module/rest/resource"
	"github.com/gatehouse/gatehouse/module/rest/supply"
)

// jobs accepts jobs and answers requests about them.
type jobs struct {
	h      *REST
	app    *gateway.App
	api    *jobapi.Handler
	queues map[string]*job.Queue // by path
	lease  *pool.Lease           // of the workers
}

// node identifies this process in the records of the jobs it runs.
var node = secret.ID()

// configDigest identifies the configuration of the handler, "" without jobs. It must be called before
// guest modules are loaded out of the configuration.
func (h *REST) configDigest() string {
	if len(h.Jobs) == 0 {
		return ""
	}
	b, err := json.Marshal(h)
	if err != nil {
		return secret.ID() // equal to no other
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// provisionJobs builds the queues, which the app starts and stops. digest is the configDigest.
func (h *REST) provisionJobs(ctx caddy.Context, digest string) error {
	if len(h.Jobs) == 0 {
		return nil
	}
	app, err := gateway.FindApp(ctx, "api_rest")
	if err != nil {
		return fmt.Errorf("jobs are kept in its store: %w", err)
	}
	app.Servers().WarnWithoutAddress(ctx) // callers without a token have room by address
	var held pool.Holdings
	defer held.GiveBack() // after an error
	p := &jobs{h: h, app: app, queues: make(map[string]*job.Queue)}
	p.api = &jobapi.Handler{Trace: app.Traced, Identity: handler.IdentityHeader, Address: handler.ClientAddress, Network: handler.ClientNetwork}
	for _, c := range h.Jobs {
		// By the name alone: the upstream has as much to do for jobs of another store.
		pooled, err := pool.Hold(&held, c.Defaulted().Name, func() (*workers.Pool, error) { return workers.NewPool(), nil })
		if err != nil {
			return err
		}
		q, err := job.NewQueue(job.QueueConfig{
			Config: c, Store: app.Store(), Do: p.run, Hold: p.hold, Permitted: p.permitted, Fair: jobapi.Fair,
			Pool:  pooled,
			Room:  jobapi.NewRoom(c, app.Store(), time.Now),
			NewID: secret.ID, Node: node, Now: time.Now, Log: h.log,
			Observer: jobapi.NewObserver(c.Defaulted().Name, app.Trail()),
		})
		if err != nil {
			return err
		}
		if p.queues[q.Path] != nil {
			return fmt.Errorf("job %s is declared twice", q.Path)
		}
		if err := checkFetched(q.Fetch, h.Fixed); err != nil {
			return fmt.Errorf("job %s: %w", q.Path, err)
		}
		p.queues[q.Path] = q
		p.api.Queues = append(p.api.Queues, q)
		if err := app.Attach("job "+q.Name, digest+" "+q.Path, q); err != nil {
			return fmt.Errorf("job %s: %w", q.Path, err)
		}
	}
	p.lease = held.Lease()
	h.jobs = p
	return nil
}

// hold keeps the store open for a job that runs, and its worker taken in later configurations.
func (p *jobs) hold() (release func(), err error) {
	leave, err := p.lease.Enter()
	if err != nil {
		return nil, err
	}
	closeStore, err := p.app.Hold()
	if err != nil {
		leave()
		return nil, err
	}
	return func() { closeStore(); leave() }, nil
}

// checkFetched returns an error if a parameter would be sent in a body that is a fetched file. Nobody looks into that: it
// could have a value of its own for the parameter.
func checkFetched(f *job.Fetch, fixed []resource.Fixed) error {
	if f == nil || f.Part != "" {
		return nil
	}
	for _, p := range jobParams(fixed) {
		if p.In == supply.Body {
			return fmt.Errorf("the fetched file is the body, where nothing can be added, expected `part` in `fetch`, or %s of `send fixed` in the query, in a header field, or in resources alone", p.Name)
		}
	}
	return nil
}

// withStore keeps the store open while serve runs.
func (p *jobs) withStore(serve func() error) error {
	release, err := p.app.Hold()
	if err != nil {
		return envelope.Unavailable(err)
	}
	defer release()
	return serve()
}
