package conditional_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/module/internal/rest/answer"
	"github.com/gatehouse/gatehouse/module/internal/rest/conditional"
	"github.com/gatehouse/gatehouse/module/internal/rest/mapping"
	"github.com/gatehouse/gatehouse/module/internal/rest/operation"
	"github.com/gatehouse/gatehouse/module/internal/rest/responsewriter"
	"github.com/gatehouse/gatehouse/module/internal/rest/routes"
	"github.com/gatehouse/gatehouse/module/internal/secret"
	"github.com/gatehouse/gatehouse/module/rest/envelope"
	"github.com/gatehouse/gatehouse/module/rest/resource"
)

// rig is an API with one article, behind the tags of the gateway.
type rig struct {
	t     *testing.T
	table *routes.Table
	tags  *conditional.Tags
	// What the API answers to a GET.
	status int
	header http.Header
	body   string

	sent    []http.Header // of the requests that the API was sent
	bodies  []string      // of those that change the article
	changed int           // how many of them did
	demands bool          // the API answers 428 to a change without If-Match
	strong  bool          // the API answers 412 to a weak tag
	hidden  bool          // the client may not read the article
}

func newRig(t *testing.T, r resource.Resource) *rig {
	t.Helper()
	table, err := routes.New([]resource.Resource{r})
	if err != nil {
		t.Fatal(err)
	}
	return &rig{t: t, table: table, tags: conditional.NewTags([]*routes.Table{table}, 1<<10, nil), status: http.StatusOK, header: http.Header{}, body: `{"id":7}`}
}

func (g *rig) call(method string, header http.Header) *operation.Call {
	g.t.Helper()
	return g.callBody(method, header, "{}")
}

func (g *rig) callBody(method string, header http.Header, body string) *operation.Call {
	g.t.Helper()
	m, _, refused := g.table.Match(method, "/articles/7")
	if refused != nil {
		g.t.Fatal(refused)
	}
	r := httptest.NewRequest(method, "/articles/7", strings.NewReader(body))
	r.Header = header.Clone()
	asked := mapping.Asked{Header: r.Header, Body: []byte(body)}
	return &operation.Call{Request: r, Match: m, Table: g.table, Path: "/articles/7", Asked: asked}
}

// next sends the request of a call to the API.
func (g *rig) next(w http.ResponseWriter, c *operation.Call) error {
	if c.OnRequest != nil {
		c.OnRequest(c.Request)
	}
	g.sent = append(g.sent, c.Request.Header)
	if c.Match.Operation.Method != http.MethodGet {
		body, _ := io.ReadAll(c.Request.Body)
		g.bodies = append(g.bodies, string(body))
		if g.strong && strings.HasPrefix(c.Request.Header.Get("If-Match"), "W/") {
			w.WriteHeader(http.StatusPreconditionFailed)
			return nil
		}
		if g.demands && c.Request.Header.Get("If-Match") == "" {
			w.Header().Set("X-Demand", "If-Match")
			w.WriteHeader(http.StatusPreconditionRequired)
			_, err := io.WriteString(w, "If-Match is missing")
			return err
		}
		g.changed++
		w.Header().Set("ETag", `"of the API"`)
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
	if c.OnAnswer != nil {
		c.OnAnswer(g.header)
	}
	for name, values := range g.header {
		w.Header()[name] = values
	}
	w.WriteHeader(g.status)
	_, err := io.WriteString(w, g.body)
	return err
}

// ask reads the article for the gateway.
func (g *rig) ask(c *operation.Call, _ routes.Match) operation.Ask {
	return func(context.Context, mapping.Upstream, *answer.Answer, int) responsewriter.Reply {
		if c.OnAnswer != nil {
			c.OnAnswer(g.header)
		}
		return responsewriter.Reply{Status: g.status, Header: g.header, Body: []byte(g.body)}
	}
}

func (g *rig) reader() conditional.Reader {
	return conditional.Reader{
		Ask: g.ask,
		Permit: func() error {
			if g.hidden {
				return envelope.Refuse(http.StatusForbidden, "")
			}
			return nil
		},
		Charge: func(http.ResponseWriter) error { return nil },
	}
}

// serve answers a request with the status of its error, if there is one.
func (g *rig) serve(method string, header http.Header) *httptest.ResponseRecorder {
	g.t.Helper()
	return g.serveBody(method, header, "{}")
}

func (g *rig) serveBody(method string, header http.Header, body string) *httptest.ResponseRecorder {
	g.t.Helper()
	c := g.callBody(method, header, body)
	w := httptest.NewRecorder()
	if err := g.tags.Handle(c.Match.Operation, g.reader(), g.next)(w, c); err != nil {
		var refused *envelope.Refusal
		if !errors.As(err, &refused) {
			g.t.Fatal(err)
		}
		w = httptest.NewRecorder()
		w.WriteHeader(refused.Status)
	}
	return w
}

var tagged = resource.Resource{Path: "articles", ETag: true}

func TestReadHasAnETagAndIsConditional(t *testing.T) {
	for name, theirs := range map[string]http.Header{
		"made of the body":      {},
		"made of the API's own": {"Etag": {`"v1"`}},
		"made of a weak one":    {"Etag": {`W/"v1"`}},
		"no tag of the API":     {"Etag": {`v1`}},
	} {
		t.Run(name, func(t *testing.T) {
			g := newRig(t, tagged)
			g.header = theirs
			first := g.serve(http.MethodGet, http.Header{"Range": {"bytes=0-1"}, "If-Range": {`"x"`}})
			tag := first.Header().Get("ETag")
			if first.Code != http.StatusOK || first.Body.String() != g.body || tag == "" || tag == theirs.Get("Etag") {
				t.Fatalf("%d %q %s", first.Code, tag, first.Body)
			}
			if sent := g.sent[0]; sent.Get("Range") != "" || sent.Get("If-Range") != "" {
				t.Errorf("the API was sent %v", sent)
			}
			for header, want := range map[string]int{tag: 304, `"other", ` + tag: 304, "*": 304, "W/" + strings.TrimPrefix(tag, "W/"): 304, `"other"`: 200, "unquoted": 400} {
				w := g.serve(http.MethodGet, http.Header{"If-None-Match": {header}})
				if w.Code != want || want == 304 && (w.Body.Len() > 0 || w.Header().Get("ETag") != tag) {
					t.Errorf("If-None-Match: %s: %d %v %s", header, w.Code, w.Header(), w.Body)
				}
			}
			if head := g.serve(http.MethodHead, nil); head.Header().Get("ETag") != tag {
				t.Errorf("HEAD: %v, want %s", head.Header(), tag)
			}
			g.body, g.header = `{"id":8}`, http.Header{}
			if theirs.Get("Etag") != "" {
				g.header = http.Header{"Etag": {`"v2"`}}
			}
			if w := g.serve(http.MethodGet, http.Header{"If-None-Match": {tag}}); w.Code != http.StatusOK || w.Header().Get("ETag") == tag {
				t.Errorf("after a change: %d %v", w.Code, w.Header())
			}
		})
	}
}

func TestUpstreamIsAskedWithItsOwnTag(t *testing.T) {
	g := newRig(t, tagged)
	g.header = http.Header{"Etag": {`"v1"`}}
	tag := g.serve(http.MethodGet, nil).Header().Get("ETag")
	g.status, g.body = http.StatusNotModified, ""
	w := g.serve(http.MethodGet, http.Header{"If-None-Match": {tag}})
	if sent := g.sent[1].Get("If-None-Match"); sent != `"v1"` || w.Code != http.StatusNotModified || w.Header().Get("ETag") != tag {
		t.Errorf("the API was asked with %s; %d %v", sent, w.Code, w.Header())
	}
}

// hidden is a resource of which clients do not see all.
var hidden = resource.Resource{Path: "articles", ETag: true, Drop: []string{"pin"}}

// keyed gives the gateway the secrets.
func (g *rig) keyed(secrets ...string) *rig {
	g.t.Helper()
	var raw [][]byte
	for _, s := range secrets {
		raw = append(raw, []byte(strings.Repeat(s, 32)))
	}
	keys, err := secret.NewKeys(raw...)
	g.tags = conditional.NewTags([]*routes.Table{g.table}, 1<<10, func(context.Context) (*secret.Keys, error) { return keys, err })
	return g
}

func TestHiddenTagOutlivesASecretForChanges(t *testing.T) {
	g := newRig(t, hidden).keyed("a")
	g.header = http.Header{"Etag": {`"v1"`}}
	old := g.serve(http.MethodGet, nil).Header().Get("ETag")
	g.keyed("b", "a")
	g.sent = nil
	w := g.serve(http.MethodGet, http.Header{"If-None-Match": {old}})
	if now := w.Header().Get("ETag"); w.Code != http.StatusOK || now == old || !strings.HasPrefix(now, `"s.`) || g.sent[0].Get("If-None-Match") != "" {
		t.Errorf("%s became %s: %d, the API was asked %v", old, now, w.Code, g.sent[0])
	}
	for _, tag := range []string{old, w.Header().Get("ETag"), `W/` + old} {
		g.sent = nil
		if w := g.serve(http.MethodPut, http.Header{"If-Match": {tag}}); w.Code != http.StatusNoContent || g.sent[0].Get("If-Match") != `"v1"` {
			t.Errorf("If-Match: %s: %d, the API was asked %v", tag, w.Code, g.sent)
		}
	}
	g.header = http.Header{"Etag": {`"v2"`}}
	if w := g.serve(http.MethodPut, http.Header{"If-Match": {old}}); w.Code != http.StatusPreconditionFailed {
		t.Errorf("after a change: %d", w.Code)
	}
	g.keyed("b")
	g.header = http.Header{"Etag": {`"v1"`}}
	if w := g.serve(http.MethodPut, http.Header{"If-Match": {old}}); w.Code != http.StatusPreconditionFailed {
		t.Errorf("without the older secret: %d", w.Code)
	}
}

// Without a secret the tag is that of what the client sees. The API is still told its own.
func TestHiddenTagIsOfTheBodyWithoutASecret(t *testing.T) {
	g := newRig(t, hidden)
	g.header = http.Header{"Etag": {`"v1"`}}
	tag := g.serve(http.MethodGet, nil).Header().Get("ETag")
	if w := g.serve(http.MethodGet, http.Header{"If-None-Match": {tag}}); !strings.HasPrefix(tag, `"b.`) || w.Code != http.StatusNotModified {
		t.Errorf("%s: %d", tag, w.Code)
	}
	g.sent = nil
	if w := g.serve(http.MethodPut, http.Header{"If-Match": {tag}}); w.Code != http.StatusNoContent || g.sent[0].Get("If-Match") != `"v1"` {
		t.Errorf("%d, the API was asked %v", w.Code, g.sent)
	}
}

func TestUnreadableSecretRefusesHiddenTags(t *testing.T) {
	for _, c := range []struct {
		of   resource.Resource
		want int
	}{{hidden, http.StatusServiceUnavailable}, {tagged, http.StatusOK}} {
		g := newRig(t, c.of).keyed("")
		g.header = http.Header{"Etag": {`"v1"`}}
		if w := g.serve(http.MethodGet, nil); w.Code != c.want {
			t.Errorf("%+v: %d", c.of, w.Code)
		}
		if w := g.serve(http.MethodPut, http.Header{"If-Match": {`"x"`}}); w.Code == http.StatusNoContent || g.changed > 0 {
			t.Errorf("%+v: a change: %d", c.of, w.Code)
		}
	}
}

func TestOnlyASuccessHasAnETag(t *testing.T) {
	for _, status := range []int{http.StatusNotFound, http.StatusInternalServerError, http.StatusFound} {
		g := newRig(t, tagged)
		g.status = status
		if w := g.serve(http.MethodGet, http.Header{"If-None-Match": {"*"}}); w.Code != status || w.Header().Get("ETag") != "" {
			t.Errorf("%d became %d %v", status, w.Code, w.Header())
		}
	}
}

func TestConditionalWriteNeedsItsPreconditions(t *testing.T) {
	const modified, before, after = "Tue, 10 Nov 2026 10:00:00 GMT", "Tue, 10 Nov 2026 09:00:00 GMT", "Tue, 10 Nov 2026 11:00:00 GMT"
	for name, c := range map[string]struct {
		condition, value string // TAG is the current tag
		status           int    // of the read
		want             int
	}{
		"none":                           {"", "", 200, 204},
		"the current tag":                {"If-Match", "TAG", 200, 204},
		"one of several":                 {"If-Match", `"x", TAG`, 200, 204},
		"another tag":                    {"If-Match", `"x"`, 200, 412},
		"any tag, and there is one":      {"If-Match", "*", 200, 204},
		"any tag, and there is none":     {"If-Match", "*", 404, 412},
		"none of any, and there is one":  {"If-None-Match", "*", 200, 412},
		"none of any, and there is none": {"If-None-Match", "*", 404, 204},
		"malformed":                      {"If-Match", "x", 200, 400},
		"unmodified since before":        {"If-Unmodified-Since", before, 200, 412},
		"unmodified since after":         {"If-Unmodified-Since", after, 200, 204},
		"unmodified since no date":       {"If-Unmodified-Since", "yesterday", 200, 204},
		"the API cannot be read":         {"If-Match", "TAG", 503, 503},
	} {
		t.Run(name, func(t *testing.T) {
			g := newRig(t, tagged)
			g.header = http.Header{"Etag": {`"v1"`}, "Last-Modified": {modified}}
			header := http.Header{}
			if c.condition != "" {
				header.Set(c.condition, strings.ReplaceAll(c.value, "TAG", g.serve(http.MethodGet, nil).Header().Get("ETag")))
			}
			g.status, g.sent = c.status, nil
			w := g.serve(http.MethodPut, header)
			if w.Code != c.want || (g.changed == 1) != (c.want == 204) {
				t.Errorf("%d, want %d; changed %d times", w.Code, c.want, g.changed)
			}
			if w.Header().Get("ETag") != "" {
				t.Errorf("the API's tag reaches the client: %v", w.Header())
			}
			for _, sent := range g.sent {
				if match := sent.Get("If-Match"); match != "" && match != "*" && match != `"v1"` || sent.Get("If-None-Match") != "" && sent.Get("If-None-Match") != "*" {
					t.Errorf("the API was sent a tag of the gateway: %v", sent)
				}
			}
		})
	}
}

// Who may not read could otherwise guess: whether a change is made tells whether the tag of a guess is the current one.
func TestTagIsNotComparedForWhoMayNotRead(t *testing.T) {
	const modified = "Tue, 10 Nov 2026 10:00:00 GMT"
	for _, theirs := range []string{"", `"v1"`, `W/"v1"`} {
		for name, c := range map[string]struct {
			field, value string // TAG is the current tag
			want         int
		}{
			"the current tag":     {"If-Match", "TAG", 403},
			"another tag":         {"If-Match", `"x"`, 403},
			"none of the current": {"If-None-Match", "TAG", 403},
			"none of another":     {"If-None-Match", `"x"`, 403},
			"any tag":             {"If-Match", "*", 204},
			"none of any":         {"If-None-Match", "*", 412},
			"a date":              {"If-Unmodified-Since", modified, 204},
			"no condition":        {"", "", 204},
		} {
			g := newRig(t, tagged)
			g.header = http.Header{"Etag": {theirs}, "Last-Modified": {modified}}
			header := http.Header{}
			if c.field != "" {
				header.Set(c.field, strings.ReplaceAll(c.value, "TAG", g.serve(http.MethodGet, nil).Header().Get("ETag")))
			}
			g.hidden = true
			if w := g.serve(http.MethodPut, header); w.Code != c.want || (g.changed == 1) != (c.want == 204) {
				t.Errorf("%s at an API with the tag %q: %d, changed %d times", name, theirs, w.Code, g.changed)
			}
		}
	}
}

// Somebody may change the resource between the read and the change, which only the API can notice.
func TestUpstreamChecksTheConditionToo(t *testing.T) {
	const modified, later = "Tue, 10 Nov 2026 10:00:00 GMT", "Tue, 10 Nov 2026 10:00:01 GMT"
	const none = "none" // the API gives no tag
	since := http.Header{"If-Unmodified-Since": {modified}}
	routes := func(read, change resource.Route) resource.Resource {
		read.Method, read.Path, change.Method, change.Path = http.MethodGet, "/articles/{id}", http.MethodPut, "/articles/{id}"
		return resource.Resource{Path: "articles", ETag: true, Routes: []resource.Route{read, change}}
	}
	post := routes(resource.Route{Upstream: "/rpc/{id}", UpstreamMethod: http.MethodPost}, resource.Route{Upstream: "/rpc/{id}"})
	elsewhere := routes(resource.Route{Upstream: "/articles/{id}"}, resource.Route{Upstream: "/changes/{id}"})
	for name, c := range map[string]struct {
		resource resource.Resource
		header   http.Header // TAG is the current tag
		theirs   string      // the API's tag, "" where there is nothing
		want     http.Header
	}{
		"the current tag":                {tagged, http.Header{"If-Match": {"TAG"}}, `"v1"`, http.Header{"If-Match": {`"v1"`}}},
		"the current tag, a weak one":    {tagged, http.Header{"If-Match": {"TAG"}}, `W/"v1"`, nil},
		"the current tag, of the body":   {tagged, http.Header{"If-Match": {"TAG"}}, none, nil},
		"any tag":                        {tagged, http.Header{"If-Match": {"*"}}, `"v1"`, http.Header{"If-Match": {"*"}}},
		"any tag, a weak one":            {tagged, http.Header{"If-Match": {"*"}}, `W/"v1"`, http.Header{"If-Match": {"*"}}},
		"any tag, without one":           {tagged, http.Header{"If-Match": {"*"}}, none, nil},
		"any tag, an invalid one":        {tagged, http.Header{"If-Match": {"*"}}, `v1`, http.Header{"If-Match": {"*"}}},
		"any tag but one":                {tagged, http.Header{"If-Match": {"*"}, "If-None-Match": {`"x"`}}, `"v1"`, http.Header{"If-Match": {`"v1"`}}},
		"another tag":                    {tagged, http.Header{"If-None-Match": {`"x"`}}, `"v1"`, http.Header{"If-Match": {`"v1"`}}},
		"another tag, without one":       {tagged, http.Header{"If-None-Match": {`"x"`}}, none, nil},
		"another tag, and there is none": {tagged, http.Header{"If-None-Match": {`"x"`}}, "", nil},
		"none of any":                    {tagged, http.Header{"If-None-Match": {"*"}}, "", http.Header{"If-None-Match": {"*"}}},
		"a date":                         {tagged, http.Header{"If-Unmodified-Since": {modified}}, `"v1"`, http.Header{"If-Match": {`"v1"`}}},
		"a date, a weak tag":             {tagged, http.Header{"If-Unmodified-Since": {later}}, `W/"v1"`, since},
		"a date, without a tag":          {tagged, http.Header{"If-Unmodified-Since": {later}}, none, since},
		"a date elsewhere":               {elsewhere, http.Header{"If-Unmodified-Since": {later}}, none, nil},
		"a date, and there is none":      {tagged, http.Header{"If-Unmodified-Since": {modified}}, "", nil},
		"no condition":                   {tagged, http.Header{}, `"v1"`, nil},
		"no condition, without a tag":    {tagged, http.Header{}, none, nil},
		"read by a POST":                 {post, http.Header{"If-None-Match": {"*"}}, "", nil},
		"read elsewhere":                 {elsewhere, http.Header{"If-None-Match": {"*"}}, "", nil},
		"any tag elsewhere":              {elsewhere, http.Header{"If-Match": {"*"}}, `"v1"`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			g := newRig(t, c.resource)
			g.header = http.Header{"Etag": {c.theirs}, "Last-Modified": {modified}}
			switch c.theirs {
			case none:
				g.header.Del("Etag")
			case "":
				g.status, g.header = http.StatusNotFound, http.Header{}
			}
			if c.header.Get("If-Match") == "TAG" {
				c.header.Set("If-Match", g.serve(http.MethodGet, nil).Header().Get("ETag"))
			}
			g.sent = nil
			if w := g.serve(http.MethodPut, c.header); w.Code != http.StatusNoContent || len(g.sent) != 1 {
				t.Fatalf("%d; sent %v", w.Code, g.sent)
			}
			for _, name := range []string{"If-Match", "If-None-Match", "If-Unmodified-Since"} {
				if got := g.sent[0].Get(name); got != c.want.Get(name) {
					t.Errorf("%s: %q, want %q", name, got, c.want.Get(name))
				}
			}
		})
	}
}

// S04: Express and Rails give weak tags by default, and nothing matches one strongly.
func TestWeakTagOfTheUpstreamBecomesAStrongOneOfTheBody(t *testing.T) {
	g := newRig(t, tagged)
	g.header = http.Header{"Etag": {`W/"v1"`}}
	tag := g.serve(http.MethodGet, nil).Header().Get("ETag")
	g.sent = nil
	if w := g.serve(http.MethodPut, http.Header{"If-Match": {tag}}); w.Code != http.StatusNoContent || g.sent[0].Get("If-Match") != "" {
		t.Errorf("%d with %s; sent %v", w.Code, tag, g.sent)
	}
	g.body = `{"id":8}`
	if w := g.serve(http.MethodPut, http.Header{"If-Match": {tag}}); w.Code != http.StatusPreconditionFailed {
		t.Errorf("%d after a change under the same weak tag", w.Code)
	}
	g.sent = nil
	if w := g.serve(http.MethodGet, http.Header{"If-None-Match": {tag}}); w.Code != http.StatusOK || g.sent[0].Get("If-None-Match") != "" {
		t.Errorf("%d; sent %v", w.Code, g.sent)
	}
}

// OData services give weak tags, demand If-Match, and take these.
func TestWeakTagIsSentToAnUpstreamThatDemandsACondition(t *testing.T) {
	for name, c := range map[string]struct {
		field, value string // TAG is the current tag
		theirs       string
		body         string
		want         int
		sent         []string // the If-Match of each request
	}{
		"the current tag":         {"If-Match", "TAG", `W/"v1"`, "{}", 204, []string{"", `W/"v1"`}},
		"another tag":             {"If-Match", `"x"`, `W/"v1"`, "{}", 412, nil},
		"a date":                  {"If-Unmodified-Since", "Tue, 10 Nov 2026 10:00:00 GMT", `W/"v1"`, "{}", 204, []string{"", `W/"v1"`}},
		"any tag":                 {"If-Match", "*", `W/"v1"`, "{}", 204, []string{"*"}},
		"no condition":            {"", "", `W/"v1"`, "{}", 428, []string{""}},
		"a strong tag":            {"If-Match", "TAG", `"v1"`, "{}", 204, []string{`"v1"`}},
		"no tag":                  {"If-Match", "TAG", "", "{}", 428, []string{""}},
		"a body that is not kept": {"If-Match", "TAG", `W/"v1"`, strings.Repeat("x", 1<<10+1), 428, []string{""}},
	} {
		t.Run(name, func(t *testing.T) {
			g := newRig(t, tagged)
			g.demands, g.header = true, http.Header{"Etag": {c.theirs}}
			header := http.Header{}
			if c.field != "" {
				header.Set(c.field, strings.ReplaceAll(c.value, "TAG", g.serve(http.MethodGet, nil).Header().Get("ETag")))
			}
			g.sent, g.body = nil, `{"id":7}`
			w := g.serveBody(http.MethodPut, header, c.body)
			var sent []string
			for i, h := range g.sent {
				if sent = append(sent, h.Get("If-Match")); g.bodies[i] != c.body {
					t.Errorf("the body was %q", g.bodies[i])
				}
			}
			if w.Code != c.want || !slices.Equal(sent, c.sent) || (w.Body.Len() > 0) != (c.want == 428) || (w.Header().Get("X-Demand") != "") != (c.want == 428) {
				t.Errorf("%d %v %s after %q", w.Code, w.Header(), w.Body, sent)
			}
		})
	}
}

// An API that demanded its weak tag gets it at once, until it refuses it.
func TestDemandOfAWeakTagIsRemembered(t *testing.T) {
	long := strings.Repeat("x", 1<<10+1) // is not kept
	g := newRig(t, tagged)
	g.header = http.Header{"Etag": {`W/"v1"`}}
	tag := g.serve(http.MethodGet, nil).Header().Get("ETag")
	for i, c := range []struct {
		demands, strong bool
		method, body    string
		want            int
		sent            []string // the If-Match of each request
	}{
		{false, true, "PUT", "{}", 204, []string{""}},
		{false, true, "PUT", "{}", 204, []string{""}},
		{true, false, "PUT", "{}", 204, []string{"", `W/"v1"`}},
		{true, false, "PUT", long, 204, []string{`W/"v1"`}},
		{true, false, "PATCH", long, 428, []string{""}}, // another operation
		{true, false, "PATCH", long, 204, []string{`W/"v1"`}},
		{false, true, "PUT", "{}", 412, []string{`W/"v1"`}},
		{false, true, "PUT", "{}", 204, []string{""}},
		{true, true, "PUT", "{}", 412, []string{"", `W/"v1"`}},
		{true, true, "PUT", "{}", 412, []string{"", `W/"v1"`}},
	} {
		g.demands, g.strong, g.sent = c.demands, c.strong, nil
		w := g.serveBody(c.method, http.Header{"If-Match": {tag}}, c.body)
		var sent []string
		for _, h := range g.sent {
			sent = append(sent, h.Get("If-Match"))
		}
		if w.Code != c.want || !slices.Equal(sent, c.sent) || g.bodies[len(g.bodies)-1] != c.body {
			t.Errorf("%d: %d after %q, want %d after %q", i, w.Code, sent, c.want, c.sent)
		}
	}
}

func TestLongAnswerKeepsAWeakTag(t *testing.T) {
	g := newRig(t, tagged)
	g.header, g.body = http.Header{"Etag": {`W/"v1"`}}, strings.Repeat(" ", 256<<10)+"{}"
	first := g.serve(http.MethodGet, nil)
	tag := first.Header().Get("ETag")
	if first.Code != http.StatusOK || first.Body.String() != g.body || !strings.HasPrefix(tag, `W/"`) {
		t.Fatalf("%d %q, %d bytes", first.Code, tag, first.Body.Len())
	}
	g.sent = nil
	w := g.serve(http.MethodGet, http.Header{"If-None-Match": {tag}}) // this API answers all the same
	if w.Code != http.StatusNotModified || w.Body.Len() > 0 || w.Header().Get("ETag") != tag || g.sent[0].Get("If-None-Match") != `W/"v1"` {
		t.Errorf("%d %v, %d bytes; sent %v", w.Code, w.Header(), w.Body.Len(), g.sent)
	}
}

func TestUnknownETagsFailTheCondition(t *testing.T) {
	translated := resource.Resource{Path: "articles", Item: "/result"}
	plain := resource.Resource{Path: "articles"}
	for name, c := range map[string]struct {
		resource resource.Resource
		method   string
		header   http.Header
		refused  int
		left     string // the condition that the API sees
	}{
		"a read":                {translated, http.MethodGet, http.Header{"If-None-Match": {`"x"`}}, 0, `"x"`},
		"an answer that passes": {plain, http.MethodPut, http.Header{"If-Match": {`"x"`}}, 0, `"x"`},
		"a tag that cannot be":  {translated, http.MethodPut, http.Header{"If-Match": {`"x"`}}, 412, ""},
		"any tag":               {translated, http.MethodPut, http.Header{"If-Match": {"*"}}, 0, "*"},
		"no tag that cannot be": {translated, http.MethodPut, http.Header{"If-None-Match": {`"x"`}}, 0, ""},
		"no tag at all":         {translated, http.MethodPut, http.Header{"If-None-Match": {"*"}}, 0, "*"},
		"a malformed one":       {translated, http.MethodPut, http.Header{"If-Match": {"x"}}, 400, ""},
	} {
		g := newRig(t, c.resource)
		left, refused := conditional.Untagged(g.call(c.method, c.header))
		switch {
		case c.refused != 0:
			if refused == nil || refused.Status != c.refused {
				t.Errorf("%s: %v", name, refused)
			}
		case refused != nil:
			t.Errorf("%s: %v", name, refused)
		case left.Request.Header.Get("If-Match")+left.Request.Header.Get("If-None-Match") != c.left:
			t.Errorf("%s: %v", name, left.Request.Header)
		}
	}
}
