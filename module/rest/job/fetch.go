package job

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"time"

	"github.com/gatehouse/gatehouse/module/rest/envelope"
	"github.com/gatehouse/gatehouse/module/rest/job/fileurl"
)

const (
	headerTime = 30 * time.Second // until the file's server responds
	stallTime  = 30 * time.Second // without a byte
	lookTime   = time.Second      // for resolving a name before the 202
)

// fetcher fetches files from URLs that clients send.
type fetcher struct {
	config *Fetch
	policy *fileurl.Policy
	client *http.Client
}

// Errors of a fetch; codeOf gives their codes.
var (
	errRedirects = errors.New("job: too many redirects")
	errTime      = errors.New("job: the file's server is too slow")
)

func newFetcher(c *Fetch, resolver *net.Resolver) (*fetcher, error) {
	allow, err := prefixes("allow", c.Allow)
	if err != nil {
		return nil, err
	}
	insecure, err := prefixes("insecure", c.Insecure)
	if err != nil {
		return nil, err
	}
	policy := fileurl.New(allow, insecure, resolver)
	f := &fetcher{config: c, policy: policy}
	f.client = &http.Client{
		CheckRedirect: f.redirect,
		Transport:     byScheme{"https": newTransport(resolver, policy.ControlSecure), "http": newTransport(resolver, policy.ControlInsecure)},
	}
	return f, nil
}

// byScheme has a transport for each scheme, so that what is permitted for one is not permitted
// for the other. Every redirect passes through it again.
type byScheme map[string]*http.Transport

// RoundTrip implements [http.RoundTripper].
func (t byScheme) RoundTrip(r *http.Request) (*http.Response, error) {
	to := t[r.URL.Scheme]
	if to == nil {
		return nil, fileurl.ErrUnfit
	}
	return to.RoundTrip(r)
}

// newTransport returns a transport that connects only where control permits it.
func newTransport(resolver *net.Resolver, control func(network, address string, c syscall.RawConn) error) *http.Transport {
	dialer := &net.Dialer{Timeout: headerTime, Resolver: resolver, Control: control}
	return &http.Transport{
		// Proxy is nil: a proxy from the environment would connect for the gateway and bypass
		// control.
		DialContext:            dialer.DialContext,
		TLSHandshakeTimeout:    headerTime,
		ResponseHeaderTimeout:  headerTime,
		MaxResponseHeaderBytes: 64 << 10,
		DisableKeepAlives:      true, // so that control is called for every fetch
		DisableCompression:     true, // the length must be that of the body that is passed on
	}
}

func (f *fetcher) redirect(r *http.Request, via []*http.Request) error {
	r.Header.Del("Referer") // the address before may be signed
	if len(via) > f.config.Redirects {
		return errRedirects
	}
	return f.policy.Check(r.URL)
}

// checkURL refuses a URL before anything is fetched from it. forbidden says that the reason is
// the address, not the form of the URL.
func (f *fetcher) checkURL(ctx context.Context, text string) (forbidden bool, refused *envelope.Refusal) {
	u, err := f.policy.Parse(text)
	if err == nil {
		ctx, cancel := context.WithTimeout(ctx, lookTime)
		defer cancel()
		err = f.policy.CheckResolution(ctx, u)
	}
	switch {
	case errors.Is(err, fileurl.ErrForbidden):
		return true, envelope.Invalid(f.config.Field, "must be a public address: others are not fetched from")
	case err != nil && len(f.config.Insecure) > 0:
		return false, envelope.Invalid(f.config.Field, "must be an https address, or an http address of a permitted network, of at most 2048 characters, without user and password")
	case err != nil:
		return false, envelope.Invalid(f.config.Field, "must be an https address of at most 2048 characters, without user and password")
	}
	return false, nil
}

// openFile starts a fetch. The caller must close the file.
func (f *fetcher) openFile(ctx context.Context, address string) (*file, *Failure) {
	u, err := f.policy.Parse(address)
	if err != nil {
		return nil, codeOf(err).Failure()
	}
	ctx, cancel := context.WithCancelCause(ctx)
	file := &file{ctx: ctx, cancel: cancel, left: f.config.Timeout, max: f.config.Max}
	failure := f.begin(file, u)
	if failure != nil {
		file.Close()
		return nil, failure
	}
	return file, nil
}

func (f *fetcher) begin(file *file, u *url.URL) *Failure {
	r, err := http.NewRequestWithContext(file.ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return FileUnreachable.Failure()
	}
	r.Header.Set("Accept-Encoding", "identity")
	r.Header.Set("User-Agent", "Gatehouse")
	var res *http.Response
	err = file.waitForServer(f.config.Timeout, func() (err error) {
		res, err = f.client.Do(r)
		return err
	})
	if err != nil {
		return codeOf(err).Failure()
	}
	file.body, file.Length = res.Body, res.ContentLength
	coding := res.Header.Get("Content-Encoding")
	switch {
	case res.StatusCode != http.StatusOK:
		failure := FileRefused.Failure()
		failure.Message = fmt.Sprintf("the file's server answers with the status %d", res.StatusCode)
		return failure
	case coding != "" && !strings.EqualFold(coding, "identity"):
		return FileEncoded.Failure()
	case res.ContentLength > f.config.Max:
		return FileTooLarge.Failure()
	case res.ContentLength < 0 && len(res.TransferEncoding) == 0:
		return FileIncomplete.Failure() // its end could not be distinguished from a broken connection
	}
	file.Name = fileName(res)
	file.Type = fileType(res.Header.Get("Content-Type"))
	return nil
}

// codeOf returns the code of a fetch error.
func codeOf(err error) Code {
	var timeout net.Error
	switch {
	case errors.Is(err, fileurl.ErrForbidden):
		return FileForbidden
	case errors.Is(err, errRedirects), errors.Is(err, fileurl.ErrUnfit):
		return FileRedirects
	case errors.Is(err, errLarge):
		return FileTooLarge
	case errors.Is(err, errTime), errors.As(err, &timeout) && timeout.Timeout():
		return FileTimeout
	}
	return FileUnreachable
}
