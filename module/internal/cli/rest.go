package cli

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gatehouse/gatehouse/module/gateway/restapi"
	"github.com/gatehouse/gatehouse/module/internal/cli/explain"
)

func restCommands() *cobra.Command {
	cmd := newCommand("try METHOD PATH", "Shows how api_rest translates a request and the upstream's response", `
Shows, without sending anything, the request that the upstream would get, and the status, header and
body that the client would get for the response given by --status, --header and --body. Guards and
limits are not consulted (explain does that), so all links are shown. Jobs and Idempotency-Key, which
need a store, are left out.

	$ caddy gatehouse rest try GET /articles/7 --config Caddyfile --body answer.json`,
		exactly("METHOD", "PATH"), tryREST)
	f := cmd.Flags()
	f.StringP("config", "c", "", "Configuration file; without it, the running gateway's is used")
	f.StringP("adapter", "a", "", "Name of config adapter to apply (if --config is used)")
	f.String("address", "", "Address of the administration API listener of a running gateway")
	f.String("site", "", "Host of the site if api_rest stands in several, with its port if several have that host: localhost:8081")
	f.String("body", "", "File with the upstream's answer, - for standard input")
	f.Int("status", http.StatusOK, "Status of the upstream's answer")
	f.StringArray("header", nil, "Header field of the upstream's answer, such as 'Content-Type: text/html'")
	f.String("send", "", "File with the client's body, - for standard input")
	f.StringArray("send-header", nil, "Header field of the client's request, such as 'Accept: application/vnd.acme.v1+json'")
	return groupCommand("rest", "Examines api_rest", cmd)
}

// maxTried bounds a file that is read, in bytes.
const maxTried = 16 << 20

func tryREST(r *run) error {
	q, err := explain.NewQuestion(r.args[0], r.args[1], nil)
	if err != nil {
		return err
	}
	status, _ := r.cmd.Flags().GetInt("status")
	if status < 200 || status > 599 {
		return errors.New("--status " + strconv.Itoa(status) + ": expected one from 200 to 599")
	}
	if r.text("body") == "-" && r.text("send") == "-" {
		return errors.New("--body and --send: expected standard input for one of them")
	}
	up := restapi.Imagined{Status: status}
	if up.Header, err = headers(r.texts("header"), "--header"); err != nil {
		return err
	}
	if up.Body, err = r.content("body"); err != nil {
		return err
	}
	if up.Header.Get("Content-Type") == "" && len(up.Body) > 0 {
		up.Header.Set("Content-Type", "application/json")
	}
	sent, err := headers(r.texts("send-header"), "--send-header")
	if err != nil {
		return err
	}
	body, err := r.content("send")
	if err != nil {
		return err
	}
	if len(body) > 0 && sent.Get("Content-Type") == "" {
		sent.Set("Content-Type", "application/json")
	}
	config, err := r.anyConfiguration()
	if err != nil {
		return err
	}
	tried, err := try(config, q, r.text("site"), sent, body, up)
	if err != nil {
		return err
	}
	return r.print(tried, func(w io.Writer) {
		textOf(w, tried)
		if len(tried.Sent) > 0 && len(up.Body) == 0 {
			row(w, "Note:", "the upstream's answer is imagined without a body; --body names a file with one")
		}
	})
}

// content reads the file of a flag.
func (r *run) content(flag string) ([]byte, error) {
	name := r.text(flag)
	if name == "" {
		return nil, nil
	}
	in := r.in
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return nil, fmt.Errorf("--%s: %w", flag, err)
		}
		defer file.Close()
		in = file
	}
	text, err := io.ReadAll(io.LimitReader(in, maxTried+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("--%s: %w", flag, err)
	case len(text) > maxTried:
		return nil, fmt.Errorf("--%s: expected at most %d bytes", flag, maxTried)
	}
	return text, nil
}

func headers(lines []string, flag string) (http.Header, error) {
	h := make(http.Header)
	for _, line := range lines {
		name, value, ok := strings.Cut(line, ":")
		if !ok || strings.TrimSpace(name) == "" || strings.ContainsAny(line, "\r\n") {
			return nil, fmt.Errorf("%s %s: expected a name, a colon and a value", flag, line)
		}
		h.Add(strings.TrimSpace(name), strings.TrimSpace(value))
	}
	return h, nil
}

// textOf writes a trial as text.
func textOf(w io.Writer, t restapi.Tried) {
	if len(t.Sent) == 0 {
		row(w, "Sent:", "nothing")
	}
	for _, s := range t.Sent {
		row(w, "Sent:", s.Method+" "+s.URL)
		fields(w, s.Header)
		if s.Body != "" {
			row(w, "", s.Body)
		}
	}
	row(w, "Answer:", strconv.Itoa(t.Status)+" "+http.StatusText(t.Status))
	fields(w, t.Header)
	if t.Body != "" {
		row(w, "", strings.TrimSpace(t.Body))
	}
	if t.Cut {
		row(w, "Note:", "the answer is broken off here, since the rest could not be translated")
	}
	if t.Why != "" {
		row(w, "Why:", t.Why)
	}
}

func fields(w io.Writer, h http.Header) {
	for _, name := range explain.SortedKeys(h) {
		for _, v := range h[name] {
			row(w, "", name+": "+v)
		}
	}
}
