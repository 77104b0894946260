package watch

import (
	"errors"
	"net/url"
	"strings"
	"sync"
	"testing"
)

func subscribe(t *testing.T, f *Feed, filter Filter) *Watcher {
	t.Helper()
	w, err := f.Subscribe(filter)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func TestSlowWatcherLosesDecisions(t *testing.T) {
	f := NewFeed()
	slow, quick := subscribe(t, f, Filter{}), subscribe(t, f, Filter{})
	const more = 7
	for range buffered + more { // would block for ever if a request waited
		f.Publish(&Decision{Path: "/a"})
		<-quick.Decisions()
	}
	if n := slow.Lost(); n != more || len(slow.Decisions()) != buffered {
		t.Errorf("lost %d of %d, %d waiting", n, buffered+more, len(slow.Decisions()))
	}
	if n := slow.Lost() + quick.Lost(); n != 0 {
		t.Errorf("%d are lost twice", n)
	}
}

func TestFeedIsUnwatchedAfterTheLastWatcher(t *testing.T) {
	var none *Feed
	f := NewFeed()
	if none.Watched() || f.Watched() {
		t.Error("watched from the start")
	}
	var all []*Watcher
	for range MaxWatchers {
		all = append(all, subscribe(t, f, Filter{}))
	}
	if _, err := f.Subscribe(Filter{}); !errors.Is(err, ErrTooMany) {
		t.Error(err)
	}
	for _, w := range all {
		if !f.Watched() {
			t.Error("not watched")
		}
		w.Close()
		w.Close()
	}
	if f.Watched() {
		t.Error("still watched")
	}
	f.Publish(&Decision{})
	subscribe(t, f, Filter{}).Close()
}

func TestWatchersComeAndGoUnderLoad(t *testing.T) {
	f := NewFeed()
	var all sync.WaitGroup
	for range 2 {
		all.Go(func() {
			for range 1000 {
				if w, err := f.Subscribe(Filter{}); err == nil {
					w.Close()
				}
			}
		})
		all.Go(func() {
			for range 1000 {
				if f.Watched() {
					f.Publish(&Decision{Path: "/a"})
				}
			}
		})
	}
	all.Wait()
}

func TestStatusFilterTakesCodesAndClasses(t *testing.T) {
	for list, want := range map[string]string{"429": "429", "4xx": "400 429 499", "2XX,429": "200 429", "": "error", "6xx": "error", "99": "error", "600": "error", "4xx,": "error", "xx": "error"} {
		f, err := ParseFilter(url.Values{"status": {list}})
		var matched []string
		for status, name := range map[int]string{200: "200", 400: "400", 429: "429", 499: "499", 500: "500"} {
			if f.matches(&Decision{Status: status}) {
				matched = append(matched, name)
			}
		}
		if (err != nil) != (want == "error") || err == nil && len(matched) != len(strings.Fields(want)) {
			t.Errorf("%q: %v %v, want %s", list, matched, err, want)
		}
	}
}

func TestWatchedPathsHaveNoTokens(t *testing.T) {
	for path, want := range map[string]string{
		"/articles/42": "/articles/42",
		"/a/3fa85f64-5717-4562-b3fc-2c963f66afa6/b":  "/a/3fa85f64-5717-4562-b3fc-2c963f66afa6/b",
		"/a/507f1f77bcf86cd799439011/b":              "/a/507f1f77bcf86cd799439011/b",
		"/a/01ARZ3NDEKTSV4RRFFQ69G5FAV/b":            "/a/01ARZ3NDEKTSV4RRFFQ69G5FAV/b",
		"/wiki/Wikipedia_Article_About_2024_Events":  "/wiki/Wikipedia_Article_About_2024_Events",
		"/a;jsessionid=secret/b;c=d":                 "/a;REDACTED/b;REDACTED",
		"/t/eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJ4In0.aa": "/t/REDACTED",
		"/t/dGhpcyBpcyBhIHNlY3JldCB0b2tlbg/x":        "/t/REDACTED/x",
		"/t/Zk3-9aQx_7LmW2pTtR8vYc":                  "/t/REDACTED",
	} {
		d := &Decision{Path: path}
		if d.shorten(); d.Path != want {
			t.Errorf("%s became %s, want %s", path, d.Path, want)
		}
	}
}

func TestDecisionTextsAreLimited(t *testing.T) {
	long := strings.Repeat("a", 5000)
	d := &Decision{Method: long, Host: long, Path: "/" + long, Client: long, User: long}
	d.shorten()
	if n := len(d.Method) + len(d.Host) + len(d.Path) + len(d.Client) + len(d.User); n > maxMethod+maxHost+maxPath+2*maxID+5*len("...") {
		t.Errorf("%d bytes: %+v", n, d)
	}
}
