package signin

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"runtime/debug"

	"github.com/gatehouse/gatehouse/module/internal/rest/conceal"
	"github.com/gatehouse/gatehouse/module/internal/rest/mapping"
	"github.com/gatehouse/gatehouse/module/internal/rest/operation"
	"github.com/gatehouse/gatehouse/module/internal/rest/request"
	"github.com/gatehouse/gatehouse/module/internal/rest/responsewriter"
	"github.com/gatehouse/gatehouse/module/rest/login"
	"github.com/gatehouse/gatehouse/module/rest/supply"
)

// Config is how the gateway signs in to an API with an account of its own. All fields are
// required unless they say otherwise.
type Config struct {
	Plan   *login.Plan
	Keeper *login.Keeper
	// To leads to the API.
	To operation.Route
	// NewRequest returns a request to the API that no client has asked for.
	NewRequest func(ctx context.Context, w http.ResponseWriter, up mapping.Upstream) *http.Request
	// Fill fills in the placeholders of a text that no request belongs to.
	Fill func(text string) (string, error)
	// StatusOf returns the status that an error is answered with.
	StatusOf func(error) int
	// Fields are header fields that are sent with each step, with placeholders. Default: none.
	Fields []supply.Param
	// Reveals says whether the proxies in To send what is concealed.
	Reveals bool
	// Withhold are the fields of answers that may contain a session. Default: none.
	Withhold []string
	// MaxBody bounds the size of a body that is kept to be sent again.
	MaxBody int64
	Log     *slog.Logger
}

// Sender sends a request to the API. It is for one client's request, or for several on behalf
// of it.
type Sender interface {
	// AddSecret adds a text that clients must not see; IsSecret reports such texts.
	AddSecret(text string)
	IsSecret(text string) bool
	// Apply adds parameters to a request, or to what is concealed of it.
	Apply(r *http.Request, concealed *conceal.Values, params []supply.Param) error
	// Send sends a request that is complete.
	Send(w http.ResponseWriter, r *http.Request) error
}

// SignIn is the gateway's account at an API, with the session that all requests share.
type SignIn struct {
	Config
	bodies *request.Replayer
}

// New returns an account without a session.
func New(c Config) *SignIn { return &SignIn{c, request.NewReplayer(c.MaxBody)} }

// userAgent is sent with a sign-in and with every request that carries its session, instead of the clients' own: some
// APIs accept a session only with the User-Agent that it began with. Parameters of the configuration take precedence.
var userAgent = supply.Param{In: supply.Header, Name: "User-Agent", Value: "Gatehouse"}

// signIn obtains a session.
func (s *SignIn) signIn(ctx context.Context) (*login.Session, error) {
	session, err := s.Plan.SignIn(ctx, s.sendStep, s.Fill)
	if err != nil {
		s.Log.Error("the gateway could not sign in to the API", "error", err)
	} else {
		s.Log.Info("the gateway signed in to the API")
	}
	return session, err
}

// sendStep sends the request of a step.
func (s *SignIn) sendStep(ctx context.Context, r *http.Request) (a login.Answer, err error) {
	defer func() {
		if p := recover(); p != nil {
			if p != http.ErrAbortHandler { //nolint:errorlint // net/http compares it so too
				s.Log.Error("the request of a sign-in panicked", "panic", p, "stack", string(debug.Stack()))
			}
			err = operation.BrokenOff(operation.ErrBrokenOff)
		}
	}()
	body, err := io.ReadAll(r.Body) // the gateway's own
	if err != nil {
		return a, err
	}
	if err := s.addFields(r.Header); err != nil {
		return a, err
	}
	if r.Header.Get(userAgent.Name) == "" {
		r.Header.Set(userAgent.Name, userAgent.Value)
	}
	rec := responsewriter.NewRecorder(login.MaxAnswer)
	concealed := conceal.New(s.Reveals, nil, func(string) bool { return true }) // the proxy needs no field of the answer
	up := mapping.Upstream{Method: r.Method, Path: r.URL.EscapedPath(), RawQuery: r.URL.RawQuery, Set: r.Header, Body: body, Replaced: true}
	if concealed != nil {
		concealed.SetQuery(up.RawQuery)
		up.RawQuery = ""
		for name := range r.Header {
			if !plainFields[name] {
				concealed.TakeField(r.Header, name)
			}
		}
	}
	q := s.NewRequest(ctx, rec, up)
	q.RequestURI = up.Path // proxies log it, and the query may have a token
	if err := s.To.ServeHTTP(rec, concealed.Request(q)); err != nil {
		return a, err
	}
	concealed.Restore(rec.Header())
	got := rec.Reply()
	return login.Answer{Status: got.Status, Header: got.Header, Body: got.Body, Cut: got.Cut}, nil
}

// plainFields are the fields of a sign-in's request that never contain a session.
var plainFields = map[string]bool{"Accept": true, "Accept-Encoding": true, "Content-Length": true, "Content-Type": true}

// addFields fills in the header fields that are sent with a step, unless the step has its own.
func (s *SignIn) addFields(header http.Header) error {
	for _, p := range s.Fields {
		if len(header.Values(p.Name)) > 0 {
			continue
		}
		value, err := s.Fill(p.Value)
		if err != nil {
			return err
		}
		p.Value = value
		if err := supply.CheckValue(p); err != nil {
			return err
		}
		header.Set(p.Name, value)
	}
	return nil
}

// notSent is the cause of a refusal for a request that was not sent, because there was no session
// for it.
type notSent struct{ error }

// Unwrap returns why there is no session.
func (n notSent) Unwrap() error { return n.error }

// IsNotSent reports whether an error says that a request was not sent because there was no
// session.
func IsNotSent(err error) bool {
	var n notSent
	return errors.As(err, &n)
}
