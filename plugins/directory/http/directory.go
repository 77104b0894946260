package http

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/net/http2"

	"github.com/gatehouse/gatehouse/module/directory"
)

// maxConnections bounds what a wave of sign-ins does to the endpoint, by kept connections and by new ones each; others wait.
const maxConnections = 64

// dir is an open directory. It belongs to no configuration.
type dir struct {
	s      *settings
	kept   *http.Client  // keeps connections
	alone  chan struct{} // has an element for each request that is sent on a connection of its own
	memory memory        // of users, where there is no address to look them up
	names  names
}

func openDirectory(s *settings) *dir {
	return &dir{s: s, names: newNames(), memory: newMemory(), kept: newClient(s, true), alone: make(chan struct{}, maxConnections)}
}

func newClient(s *settings, keep bool) *http.Client {
	return &http.Client{
		// No proxy of the environment sees passwords, and none of its settings apply.
		Transport: &http.Transport{
			TLSClientConfig: s.tls.Clone(), ForceAttemptHTTP2: true, DisableKeepAlives: !keep, MaxConnsPerHost: maxConnections,
			MaxIdleConnsPerHost: 8, IdleConnTimeout: time.Minute, TLSHandshakeTimeout: s.timeout, MaxResponseHeaderBytes: 64 << 10,
		},
		// A redirect would take the password to where nobody configured it to go.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// Close ends the idle connections; those in use end with their use.
func (d *dir) Close() error {
	d.kept.CloseIdleConnections()
	return nil
}

// Identify implements [directory.Directory] from memory: the endpoint tells nothing of a name without its password.
// The first failure of a spelling is therefore counted when the endpoint has told the ID, if its refusals do.
func (d *dir) Identify(ctx context.Context, username string) (string, bool, error) {
	if err := ctx.Err(); err != nil {
		return "", false, err
	}
	name, ok := directory.Typed(username)
	if !ok {
		return "", false, nil
	}
	id, known := d.names.idOf(name)
	return id, known, nil
}

// Authenticate implements [directory.Directory]. That an unknown name, a wrong password and a locked user cost the
// same time is the endpoint's to see to; each costs one request here.
func (d *dir) Authenticate(ctx context.Context, username, password string) (directory.User, bool, error) {
	// Some endpoints take an empty password for an anonymous sign-in.
	if password == "" || len(password) > directory.MaxPassword || !utf8.ValidString(password) {
		return directory.User{}, false, nil
	}
	typed, ok := directory.Typed(username)
	if !ok {
		return directory.User{}, false, nil
	}
	body, kind, err := d.credentials(typed, password)
	if err != nil {
		return directory.User{}, false, err
	}
	status, answer, sent, err := d.sendCredentials(ctx, kind, body)
	var u directory.User
	if ok = err == nil && !slices.Contains(d.s.refused, status); ok {
		u, ok, err = d.readAnswer(status, answer, typed)
	}
	if err != nil {
		if sent && status < http.StatusInternalServerError {
			err = unclear{err}
		}
		return directory.User{}, false, err
	}
	if !ok {
		id := d.s.refusedUser(answer)
		d.names.rememberName(typed, id)
		return directory.User{ID: id}, false, nil
	}
	d.names.rememberName(typed, u.ID)
	if d.s.lookup == nil {
		d.memory.rememberUser(u, len(answer))
	}
	if u.Locked {
		return directory.User{ID: u.ID}, false, nil
	}
	return u, true, nil
}

// Lookup implements [directory.Directory].
func (d *dir) Lookup(ctx context.Context, id string) (directory.User, bool, error) {
	if directory.CheckID(id) != nil || id == "." || id == ".." { // as a path these mean another address
		return directory.User{}, false, nil
	}
	if d.s.lookup == nil {
		return d.memory.recallUser(id), true, nil
	}
	// In a path and in a query alike this is the ID and nothing else.
	escaped := strings.ReplaceAll(url.QueryEscape(id), "+", "%20")
	status, answer, err := d.sendRequest(ctx, d.kept, http.MethodGet, strings.Join(d.s.lookup, escaped), "", nil)
	if err != nil {
		return directory.User{}, false, err
	}
	if status == http.StatusNotFound || status == http.StatusGone {
		return directory.User{}, false, nil
	}
	u, ok, err := d.readAnswer(status, answer, id)
	switch {
	case err != nil || !ok:
		return directory.User{}, false, err
	case u.ID != id:
		return directory.User{}, false, errors.New("the endpoint was asked about one user and answered about another")
	}
	return u, true, nil
}

func (d *dir) credentials(username, password string) (body []byte, kind string, err error) {
	if d.s.json {
		body, err = json.Marshal(map[string]string{d.s.username: username, d.s.password: password})
		return body, "application/json", err
	}
	form := url.Values{d.s.username: {username}, d.s.password: {password}}
	return []byte(form.Encode()), "application/x-www-form-urlencoded", nil
}

// sendCredentials asks about a password. sent tells that the endpoint may have read it: some end the connection in place of
// an answer to wrong ones. If a kept or shared connection ends so, the request is sent once more on one of its own: servers end
// those that are idle at any time, and net/http does not repeat a POST.
func (d *dir) sendCredentials(ctx context.Context, kind string, body []byte) (status int, answer []byte, sent bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, d.s.timeout)
	defer cancel()
	var t trace
	status, answer, err = d.sendRequest(t.attach(ctx), d.kept, http.MethodPost, d.s.url, kind, body)
	if err == nil || t.hasAnswer(err) || !t.shared.Load() || ctx.Err() != nil {
		return status, answer, t.wasSent(err), err
	}
	var alone trace
	status, answer, err = d.sendAlone(alone.attach(ctx), kind, body)
	return status, answer, alone.wasSent(err), err
}

// sendAlone sends credentials on a connection that no other request has: over HTTP/2, the requests of one client share theirs
// even if it keeps none.
func (d *dir) sendAlone(ctx context.Context, kind string, body []byte) (status int, answer []byte, err error) {
	select {
	case d.alone <- struct{}{}:
		defer func() { <-d.alone }()
	case <-ctx.Done():
		return 0, nil, fmt.Errorf("waiting for a connection: %w", ctx.Err())
	}
	client := newClient(d.s, false)
	defer client.CloseIdleConnections()
	return d.sendRequest(ctx, client, http.MethodPost, d.s.url, kind, body)
}

var errTooLong = errors.New("the endpoint's answer is longer than max_body")

// sendRequest sends one request and reads the whole answer, so that the connection can be used
// again. The status is 0 if there was no answer or its header could not be read; if only its body could not, there is an
// error besides. Errors name neither the address, which may hold an ID, nor what was sent.
func (d *dir) sendRequest(ctx context.Context, client *http.Client, method, address, kind string, body []byte) (status int, answer []byte, err error) {
	ctx, cancel := context.WithTimeout(ctx, d.s.timeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, method, address, bytes.NewReader(body))
	if err != nil {
		return 0, nil, errors.New("the endpoint's address cannot be used")
	}
	request.Header = d.s.headers.Clone()
	request.Host = d.s.host
	if request.Header.Get("Accept") == "" {
		request.Header.Set("Accept", "application/json")
	}
	if kind != "" {
		request.Header.Set("Content-Type", kind)
	}
	response, err := client.Do(request)
	if err != nil {
		var detail *url.Error
		if errors.As(err, &detail) {
			err = detail.Err
		}
		return 0, nil, fmt.Errorf("asking the endpoint: %w", err)
	}
	defer func() { _ = response.Body.Close() }()
	answer, err = io.ReadAll(io.LimitReader(response.Body, int64(d.s.maxBody)+1))
	switch {
	case err != nil:
		return response.StatusCode, nil, fmt.Errorf("reading the endpoint's answer: %w", err)
	case len(answer) > d.s.maxBody:
		return response.StatusCode, nil, fmt.Errorf("%w, %d bytes", errTooLong, d.s.maxBody)
	}
	return response.StatusCode, answer, nil
}

// readAnswer judges an answer whose status alone does not say no.
func (d *dir) readAnswer(status int, body []byte, typed string) (u directory.User, ok bool, err error) {
	if !slices.Contains(d.s.ok, status) {
		return u, false, fmt.Errorf("the endpoint answered with the unexpected status %d", status)
	}
	answer, err := decodeAnswer(body)
	if err != nil {
		return u, false, err
	}
	switch {
	case d.s.badWhen != nil && d.s.badWhen.isMet(answer):
		return u, false, nil
	case d.s.okWhen != nil && !d.s.okWhen.isMet(answer):
		return u, false, errors.New("the endpoint's answer says neither what ok_when nor what refused_when expects")
	}
	u, err = d.s.userFrom(answer, typed)
	return u, err == nil, err
}

// isMalformed reports whether an answer over HTTP/2 had a header that cannot be read, of which httptrace says nothing. An
// endpoint that resets the stream itself has not answered.
func isMalformed(err error) bool {
	said, ok := errors.AsType[http2.StreamError](err)
	return ok && said.Cause != nil && said.Cause.Error() != "received from peer"
}

// unclear is an error that matches [directory.ErrUnclear].
type unclear struct{ error }

func (unclear) Is(target error) bool { return target == directory.ErrUnclear }
func (e unclear) Unwrap() error      { return e.error }

// Interface guard
var _ directory.Directory = (*dir)(nil)
