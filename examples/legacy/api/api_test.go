package api

import (
	"bytes"
	"encoding/json"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

var noon = time.Date(2026, time.May, 1, 12, 0, 0, 0, time.UTC)

func quick() http.Handler {
	return New(Options{Import: -1, Now: func() time.Time { return noon }})
}

func do(h http.Handler, method, target, body string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, target, strings.NewReader(body))
	if body != "" {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func decoded[T any](t *testing.T, w *httptest.ResponseRecorder) (v T) {
	t.Helper()
	if err := json.Unmarshal(w.Body.Bytes(), &v); err != nil {
		t.Fatalf("%v in %s", err, w.Body)
	}
	return v
}

type listReply struct {
	Success bool
	Result  rows[article]
}

func TestLegacyListPagesSortsAndFilters(t *testing.T) {
	h := quick()
	cases := map[string]struct {
		query, total string
		first, n     int
	}{
		"as it is":              {"", "312", 1001, 20},
		"newest first":          {"&order=ctime+desc&count=5", "312", 1312, 5},
		"second page":           {"&order=ctime+desc&start=5&count=5", "312", 1307, 5},
		"published":             {"&st=1&order=aid", "250", 1001, 20},
		"drafts":                {"&st=0&order=aid", "62", 1005, 20},
		"the last ones":         {"&start=310", "312", 1311, 2},
		"beyond the end":        {"&start=400", "312", 0, 0},
		"far beyond the end":    {"&start=99999999999999999999", "312", 1001, 20},
		"more than is given":    {"&count=5000", "312", 1001, 200},
		"numbers that are none": {"&start=x&count=-3", "312", 1001, 20},
	}
	for name, c := range cases {
		w := do(h, "GET", "/api.php?mod=article&act=list"+c.query, "")
		got := decoded[listReply](t, w)
		first := 0
		if len(got.Result.List) > 0 {
			first = got.Result.List[0].ID
		}
		if w.Code != 200 || !got.Success || got.Result.Total != c.total || len(got.Result.List) != c.n || first != c.first {
			t.Errorf("%s: %d, total %q, %d rows from %d; want %+v", name, w.Code, got.Result.Total, len(got.Result.List), first, c)
		}
	}
	if w := do(h, "GET", "/api.php?mod=article&act=list&start=400", ""); !strings.Contains(w.Body.String(), `"list":null`) {
		t.Errorf("no rows are %s", w.Body)
	}
}

func TestArticleIsAddedReadEditedAndDeleted(t *testing.T) {
	h := quick()
	type one struct {
		Success bool
		Result  article
	}
	form := url.Values{"subject": {"Nine bridges"}, "body": {"Text"}, "tags": {"a,b"}, "state": {"0"}}
	added := decoded[one](t, do(h, "POST", "/api.php?mod=article&act=add", form.Encode(), "X-Auth-Subject", "u-7"))
	want := article{ID: 1313, Subject: "Nine bridges", Body: "Text", Tags: "a,b", State: 0, Author: "u-7", Created: noon.Unix()}
	if !added.Success || added.Result != want {
		t.Fatalf("added %+v, want %+v", added.Result, want)
	}
	at := "&aid=" + strconv.Itoa(want.ID)
	want.State = 1
	if got := decoded[one](t, do(h, "POST", "/api.php?mod=article&act=edit"+at, "state=1")); got.Result != want {
		t.Errorf("edited to %+v", got.Result)
	}
	if got := decoded[one](t, do(h, "GET", "/api.php?mod=article&act=get"+at, "")); got.Result != want {
		t.Errorf("read %+v", got.Result)
	}
	if got := decoded[one](t, do(h, "POST", "/api.php?mod=article&act=del"+at, "")); !got.Success {
		t.Error("not deleted")
	}
	if w := do(h, "GET", "/api.php?mod=article&act=get"+at, ""); !strings.Contains(w.Body.String(), `"code":"E1004"`) {
		t.Errorf("after the deletion: %s", w.Body)
	}
}

func TestLegacyFailuresOfEveryKind(t *testing.T) {
	h := quick()
	long := "subject=" + strings.Repeat("x", 201)
	cases := map[string]struct {
		method, target, body string
		status               int
		kind, contains       string
	}{
		"no such article":    {"GET", "/api.php?mod=article&act=get&aid=7", "", 200, "application/json", `{"success":false,"code":"E1004","message":"No such article","field":"aid"}`},
		"a short subject":    {"POST", "/api.php?mod=article&act=add", "subject=ab", 200, "application/json", `"field":"subject"`},
		"a long subject":     {"POST", "/api.php?mod=article&act=add", long, 200, "application/json", `"code":"E1002"`},
		"no subject":         {"POST", "/api.php?mod=article&act=add", "body=x", 200, "application/json", `"code":"E1002"`},
		"a strange state":    {"POST", "/api.php?mod=article&act=edit&aid=1001", "state=2", 200, "application/json", `"code":"E1003"`},
		"a body too long":    {"POST", "/api.php?mod=article&act=edit&aid=1001", "body=" + strings.Repeat("x", maxBody+1), 200, "application/json", `"field":"body"`},
		"tags too long":      {"POST", "/api.php?mod=article&act=edit&aid=1001", "tags=" + strings.Repeat("x", maxTags+1), 200, "application/json", `"field":"tags"`},
		"a form too long":    {"POST", "/api.php?mod=article&act=add", "subject=" + strings.Repeat("x", 2<<20), 200, "application/json", `"code":"E0001"`},
		"deleting by GET":    {"GET", "/api.php?mod=article&act=del&aid=1001", "", 200, "application/json", `"code":"E0405"`},
		"nobody's profile":   {"GET", "/api.php?mod=profile", "", 200, "application/json", `"code":"E0401"`},
		"no such student":    {"GET", "/api.php?mod=student&act=friends&sid=99", "", 200, "application/json", `"code":"E2004"`},
		"an id that is none": {"GET", "/api.php?mod=article&act=get&aid=abc", "", 500, "text/html", "Stack trace:"},
		"an unknown path":    {"GET", "/nowhere", "", 404, "text/html", "<h1>Not Found</h1>"},
		"an unknown module":  {"GET", "/api.php?mod=x", "", 400, "text/plain", "unknown module"},
		"an unknown act":     {"GET", "/api.php?mod=article&act=x", "", 400, "text/plain", "unknown act"},
		"no module":          {"GET", "/api.php", "", 500, "text/plain", "no module given"},
		"a strange filter":   {"GET", "/api.php?mod=article&act=list&st=7", "", 200, "application/json", "<b>Notice</b>"},
		"importing by GET":   {"GET", "/api.php?mod=import", "", 200, "application/json", `"code":"E0405"`},
	}
	for name, c := range cases {
		w := do(h, c.method, c.target, c.body)
		if w.Code != c.status || !strings.HasPrefix(w.Header().Get("Content-Type"), c.kind) || !strings.Contains(w.Body.String(), c.contains) {
			t.Errorf("%s: %d %s %.300s", name, w.Code, w.Header().Get("Content-Type"), w.Body)
		}
	}
}

func TestStudentsAddAndRemoveFriends(t *testing.T) {
	h := quick()
	type list struct{ Result rows[student] }
	if got := decoded[list](t, do(h, "GET", "/api.php?mod=student&act=list&start=40", "")); got.Result.Total != "48" || len(got.Result.List) != 8 {
		t.Errorf("students: %+v", got)
	}
	if w := do(h, "GET", "/api.php?mod=student&act=list&start=48", ""); !strings.Contains(w.Body.String(), `{"list":null,"total":"48"}`) {
		t.Errorf("beyond the end: %s", w.Body)
	}
	friends := func(of int) []student {
		return decoded[list](t, do(h, "GET", "/api.php?mod=student&act=friends&count=48&sid="+strconv.Itoa(of), "")).Result.List
	}
	before := friends(2)
	if len(before) < 3 {
		t.Fatalf("student 2 has %d friends", len(before))
	}
	lost := strconv.Itoa(before[0].ID)
	for _, want := range []string{`"success":true`, `"code":"E2005"`} {
		if w := do(h, "POST", "/api.php?mod=student&act=unfriend&sid=2&fid="+lost, ""); !strings.Contains(w.Body.String(), want) {
			t.Errorf("unfriend: %s, want %s", w.Body, want)
		}
	}
	if after := friends(2); len(after) != len(before)-1 {
		t.Errorf("%d friends after one was lost, %d before", len(after), len(before))
	}
	for _, s := range friends(before[0].ID) {
		if s.ID == 2 {
			t.Error("the friendship still stands the other way")
		}
	}
}

func TestProfileShowsTheGatewaysIdentity(t *testing.T) {
	h := quick()
	who := []string{"X-Auth-Subject", "u-7", "X-Auth-Client", "reader-web", "X-Auth-Scopes", "articles:read profile"}
	for target, want := range map[string]string{
		"/profile":             `{"subject":"u-7","client":"reader-web","scopes":["articles:read","profile"]}`,
		"/api.php?mod=profile": `{"result":{"app":"reader-web","rights":"articles:read,profile","uid":"u-7"},"success":true}`,
	} {
		if w := do(h, "GET", target, "", who...); strings.TrimSpace(w.Body.String()) != want {
			t.Errorf("%s: %s", target, w.Body)
		}
	}
	if w := do(h, "GET", "/profile", ""); w.Code != 401 || !strings.Contains(w.Body.String(), `"field":null`) {
		t.Errorf("without a user: %d %s", w.Code, w.Body)
	}
}

func TestLegacyPrettyPathsFollowTheConventions(t *testing.T) {
	h := quick()
	cases := []struct {
		target   string
		status   int
		contains string
	}{
		{"/health", 200, `{"status":"ok"}`},
		{"/articles", 200, `"pagination":{"limit":20,"page":1,"total":250,"total_pages":13}`},
		{"/articles?page=13&limit=20", 200, `"page":13`},
		{"/articles?page=99", 200, `{"data":[],`},
		{"/articles?limit=101", 400, `"field":"limit"`},
		{"/articles?page=0", 400, `"field":"page"`},
		{"/articles/1001", 200, `{"id":1001,"title":"Notes on railway bridges, part 1"`},
		{"/articles/1001", 200, `"tags":["history","town"],"state":"published","created_at":"2024-01-01T08:00:00Z"`},
		{"/articles/1004", 200, `"tags":[]`},
		{"/articles/1005", 404, `"code":"not_found"`}, // a draft
		{"/articles/abc", 404, `"code":"not_found"`},
	}
	for _, c := range cases {
		if w := do(h, "GET", c.target, ""); w.Code != c.status || !strings.Contains(w.Body.String(), c.contains) {
			t.Errorf("%s: %d %.300s", c.target, w.Code, w.Body)
		}
	}
}

func TestImportCreatesAnArticlePerLine(t *testing.T) {
	lines := "First new article\r\nxy\n\nSecond new article\n"
	var form bytes.Buffer
	m := multipart.NewWriter(&form)
	_ = m.WriteField("note", "not the file")
	part, err := m.CreateFormFile("file", "articles.txt")
	if err != nil {
		t.Fatal(err)
	}
	_, _ = part.Write([]byte(lines))
	_ = m.Close()
	cases := map[string]struct {
		body, kind string
		want       string
	}{
		"raw lines":            {lines, "text/plain", `"imported":2`},
		"a file in a form":     {form.String(), m.FormDataContentType(), `"imported":2`},
		"a form without one":   {"file_url=https%3A%2F%2Ffiles.example%2Fa.txt", "application/x-www-form-urlencoded", `"imported":0`},
		"more lines than may":  {strings.Repeat("One more article\n", maxPerFile+5), "text/csv", `"imported":1000`},
		"a line without end":   {strings.Repeat("x", maxLine+1), "text/plain", `"code":"E0001"`},
		"a form cut in pieces": {form.String()[:40], m.FormDataContentType(), `"code":"E0001"`},
	}
	for name, c := range cases {
		if w := do(quick(), "POST", "/api.php?mod=import", c.body, "Content-Type", c.kind); !strings.Contains(w.Body.String(), c.want) {
			t.Errorf("%s: %s", name, w.Body)
		}
	}
	if w := do(quick(), "POST", "/import", lines, "Content-Type", "text/plain"); w.Code != 200 || strings.TrimSpace(w.Body.String()) != `{"imported":2}` {
		t.Errorf("/import: %d %s", w.Code, w.Body)
	}
}

func TestImportTakesFiveSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		do(New(Options{}), "GET", "/import", "")
		if took := time.Since(begun); took != 5*time.Second {
			t.Errorf("took %v", took)
		}
	})
}

func TestArticleCountIsLimited(t *testing.T) {
	h := New(Options{Articles: maxArticles, Import: -1})
	if w := do(h, "POST", "/api.php?mod=article&act=add", "subject=One+too+many"); !strings.Contains(w.Body.String(), `"code":"E1009"`) {
		t.Errorf("%s", w.Body)
	}
	if w := do(h, "POST", "/import", "One too many\n", "Content-Type", "text/plain"); w.Code != 422 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

func TestServersStartEqualAndServeInParallel(t *testing.T) {
	const list = "/api.php?mod=article&act=list&count=200"
	if a, b := do(quick(), "GET", list, "").Body.String(), do(quick(), "GET", list, "").Body.String(); a != b {
		t.Error("two servers began with other articles")
	}
	h := quick()
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			do(h, "POST", "/api.php?mod=article&act=add", "subject=At+once")
			do(h, "GET", list, "")
			do(h, "POST", "/api.php?mod=student&act=unfriend&sid=2&fid=1", "")
			do(h, "GET", "/api.php?mod=student&act=friends&sid=2", "")
		})
	}
	group.Wait()
	if got := decoded[listReply](t, do(h, "GET", list, "")); got.Result.Total != "320" {
		t.Errorf("total %s after 8 additions", got.Result.Total)
	}
}
