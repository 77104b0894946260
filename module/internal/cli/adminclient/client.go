// Package adminclient calls the admin endpoint of a running Caddy for commands, and says in their errors what to do.
package adminclient

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2"
	caddycmd "github.com/caddyserver/caddy/v2/cmd"
)

// callTimeout bounds one call of the admin endpoint. The slowest wait for a password hash or an
// unreachable store.
const callTimeout = 30 * time.Second

// maxReply bounds a response, in bytes. A configuration is the largest.
const maxReply = 100 << 20

// Client calls the admin endpoint of a running Caddy.
type Client struct {
	Address string // as it was given
	origin  string
	silent  bool // sends no Origin, because a socket has none
	http    *http.Client
}

// defaultAdminPort is the one of localhost:2019, Caddy's default.
const defaultAdminPort = 2019

// Error is an error of a command with its exit code.
type Error struct {
	Exit    int
	Code    string
	Message string
	Field   string
}

func (e *Error) Error() string { return e.Message }

// Exit codes of the commands.
const (
	ExitRefused     = 1 // wrong usage, or refused
	ExitNotFound    = 4 // no such user, client, grant or key
	ExitUnreachable = 5 // no gateway that answers
)

// New finds the admin endpoint as Caddy's own commands do.
func New(address, config, adapter string) (*Client, error) {
	if address != "" && config != "" {
		return nil, errors.New("--address and --config both say where the admin endpoint is; give one of them")
	}
	if adapter != "" && config == "" {
		return nil, errors.New("--adapter is for the file that --config names; give both")
	}
	found, err := caddycmd.DetermineAdminAPIAddress(address, nil, config, adapter)
	if err == nil {
		found, err = caddy.NewReplacer().ReplaceOrErr(found, true, true)
	}
	if err != nil {
		return nil, fmt.Errorf("finding the address of the admin endpoint: %w", err)
	}
	at, err := caddy.ParseNetworkAddressWithDefaults(found, "tcp", defaultAdminPort)
	if at.Host == "" {
		at.Host = "localhost" // :2019 is every interface to a listener
	}
	if strings.HasPrefix(found, "/") {
		return nil, fmt.Errorf("%s is no address; that of a unix socket is unix/%s", found, found)
	}
	if err != nil || at.PortRangeSize() > 1 || at.IsFdNetwork() || strings.Contains(found, "://") {
		return nil, fmt.Errorf("%s is no address of an admin endpoint; expected one such as localhost:2019 or unix//run/caddy-admin.sock", found)
	}
	c := &Client{Address: found, origin: "http://" + at.JoinHostPort(0)}
	network, dial := at.Network, at.JoinHostPort(0)
	if at.IsUnixNetwork() {
		// The file's permissions may follow it, as in unix//run/admin.sock|0220.
		network = "unix"
		dial, _, _ = strings.Cut(at.Host, "|")
		c.origin, c.silent = "http://127.0.0.1", true
	}
	c.http = &http.Client{
		Timeout: callTimeout,
		// A redirect would carry a password somewhere else.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, dial)
		}},
	}
	return c, nil
}

// Call sends in as JSON, unless it is nil, and reads the answer into out, unless it is nil.
func (c *Client) Call(ctx context.Context, method, path string, in, out any) error {
	var body []byte
	if in != nil {
		var err error
		if body, err = json.Marshal(in); err != nil {
			return err
		}
	}
	status, answer, err := c.Send(ctx, method, path, body)
	// While a configuration is loaded, the endpoint may close a connection that it has just
	// accepted. Requests that only read are repeated, except after a timeout.
	for try := 1; err != nil && method == http.MethodGet && try < readTries && !refusedToConnect(err) && !os.IsTimeout(err); try++ {
		time.Sleep(readPause)
		status, answer, err = c.Send(ctx, method, path, body)
	}
	if err != nil {
		return c.Unreachable(method, err)
	}
	if status >= 300 {
		return c.Refused(status, answer)
	}
	if out == nil || len(answer) == 0 {
		return nil
	}
	if err := json.Unmarshal(answer, out); err != nil {
		return fmt.Errorf("what answers at %s is no gateway's admin endpoint: %w", c.Address, err)
	}
	return nil
}

// Send sends a request once and returns whatever was answered.
func (c *Client) Send(ctx context.Context, method, path string, body []byte) (status int, answer []byte, err error) {
	r, err := http.NewRequestWithContext(ctx, method, c.origin+path, bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	if !c.silent {
		r.Header.Set("Origin", c.origin) // what `enforce_origin` asks for
	}
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	res, err := c.http.Do(r)
	if err != nil {
		return 0, nil, err
	}
	defer func() { _ = res.Body.Close() }()
	answer, err = io.ReadAll(io.LimitReader(res.Body, maxReply))
	return res.StatusCode, answer, err
}

const (
	readTries = 5
	readPause = 50 * time.Millisecond
)

// refusedToConnect reports whether the connection failed, so that nothing was sent.
func refusedToConnect(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "dial"
}

// Unreachable turns the error of a request that was not answered into one that says what to do.
func (c *Client) Unreachable(method string, err error) error {
	unsent := refusedToConnect(err)
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err // without the address, which is named below
	}
	if !unsent && method != http.MethodGet {
		return &Error{Exit: ExitUnreachable, Code: "unknown_outcome", Message: fmt.Sprintf(
			"the connection to Caddy's admin endpoint at %s broke before the answer came: %v. Look whether it was done before you try again", c.Address, err)}
	}
	return &Error{Exit: ExitUnreachable, Code: "unreachable", Message: fmt.Sprintf(
		"Caddy's admin endpoint at %s cannot be reached: %v. Is the gateway running? Name another address with --address, or with --config a configuration that has it", c.Address, err)}
}

// Refused reads the two forms of errors: the gateway's, and Caddy's own.
func (c *Client) Refused(status int, body []byte) error {
	e := &Error{Exit: ExitRefused, Code: "refused", Message: fmt.Sprintf("the admin endpoint at %s answered %d", c.Address, status)}
	var answer struct {
		Error json.RawMessage `json:"error"`
	}
	if json.Unmarshal(body, &answer) == nil {
		var text string
		var ours struct{ Code, Message, Field string }
		if json.Unmarshal(answer.Error, &ours) == nil && ours.Message != "" {
			e.Code, e.Message, e.Field = ours.Code, ours.Message, ours.Field
		} else if json.Unmarshal(answer.Error, &text) == nil {
			e.Message += ": " + text
		}
	}
	switch {
	case status == http.StatusNotFound && e.Code == "refused":
		e.Exit = ExitUnreachable
		e.Message = fmt.Sprintf("the Caddy at %s has no gateway in it: run one that was built with github.com/gatehouse/gatehouse/module", c.Address)
	case status == http.StatusNotFound:
		e.Exit = ExitNotFound
	case status == http.StatusServiceUnavailable:
		e.Exit = ExitUnreachable
	}
	return e
}

// Configuration returns the configuration of the running Caddy.
func (c *Client) Configuration(ctx context.Context) ([]byte, error) {
	var config json.RawMessage
	err := c.Call(ctx, http.MethodGet, "/config/", nil, &config)
	return config, err
}

// Download begins a response that may be long. cancel ends it.
func (c *Client) Download(ctx context.Context, path string) (res *http.Response, cancel func(), err error) {
	ctx, stop := context.WithCancel(ctx)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.origin+path, nil)
	if err != nil {
		stop()
		return nil, nil, err
	}
	if !c.silent {
		req.Header.Set("Origin", c.origin)
	}
	client := *c.http
	client.Timeout = 0 // the state may be large
	if res, err = client.Do(req); err != nil {
		stop()
		return nil, nil, c.Unreachable(http.MethodGet, err)
	}
	// What comes in is looked at: a gateway that stops sending must not keep the command for ever.
	res.Body = &watched{res.Body, time.AfterFunc(downloadPatience, stop)}
	if res.StatusCode != http.StatusOK {
		defer stop()
		body := res.Body // the returns below empty res
		defer func() { _ = body.Close() }()
		answer, err := io.ReadAll(io.LimitReader(body, maxReply))
		if err != nil {
			return nil, nil, c.Unreachable(http.MethodGet, err)
		}
		return nil, nil, c.Refused(res.StatusCode, answer)
	}
	return res, stop, nil
}

// downloadPatience is how long the next bytes of a download may take.
const downloadPatience = time.Minute

// watched ends a download that stands still.
type watched struct {
	io.ReadCloser
	timer *time.Timer
}

func (w *watched) Read(p []byte) (int, error) {
	w.timer.Reset(downloadPatience)
	return w.ReadCloser.Read(p)
}

func (w *watched) Close() error {
	w.timer.Stop()
	return w.ReadCloser.Close()
}
