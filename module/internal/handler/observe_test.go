package handler

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/gatehouse/gatehouse/module/internal/token"
	"github.com/gatehouse/gatehouse/module/internal/watch"
)

// served observes a request as handlers do.
func served(feed *watch.Feed, w http.ResponseWriter, r *http.Request) (err error) {
	if o := Observe(feed, w, r); o != nil {
		w = o.Writer
		defer func() { o.End(err) }()
	}
	ObserveLimit(feed, r, 0, "")
	_ = w
	return nil
}

func TestUnwatchedRequestDoesNotAllocate(t *testing.T) {
	feed := watch.NewFeed()
	w, r := httptest.NewRecorder(), newRequest(make(map[string]any))
	if n := testing.AllocsPerRun(100, func() { _ = served(feed, w, r) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
	if f := factsOf(r); f != &noFacts {
		t.Errorf("%+v", f)
	}
}

func BenchmarkObserveUnwatched(b *testing.B) {
	feed := watch.NewFeed()
	w, r := httptest.NewRecorder(), newRequest(make(map[string]any))
	for b.Loop() {
		_ = served(feed, w, r)
	}
}

func TestRequestIsObservedOnce(t *testing.T) {
	feed := watch.NewFeed()
	watcher, err := feed.Subscribe(watch.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	defer watcher.Close()
	vars := make(map[string]any)
	r := newRequest(vars)
	r.Method = "PUT"
	outer := Observe(feed, httptest.NewRecorder(), r)
	if inner := Observe(feed, outer.Writer, r); inner != nil {
		t.Error("a handler behind begins again")
	}
	ObserveGuard(feed, r, GuardDecision{Route: "PUT /", Token: &token.Access{Client: "c", Subject: token.ClientSubject + "c"}})
	own := maps.Clone(vars)
	CopyFacts(own)
	part := newRequest(own)
	if Observe(feed, httptest.NewRecorder(), part) != nil {
		t.Error("a request that is made for another is observed by itself")
	}
	ObserveLimit(feed, part, http.StatusTooManyRequests, "rate_limited")
	outer.Writer.WriteHeader(http.StatusBadGateway)
	outer.End(nil)
	d := <-watcher.Decisions()
	if d.Outcome != watch.Failed || d.Status != http.StatusBadGateway || d.Client != "c" || d.User != "" || d.Route != "PUT /" || d.Reason != "" || d.Method != "PUT" {
		t.Errorf("%+v", d)
	}
	undecided := newRequest(make(map[string]any))
	Observe(feed, httptest.NewRecorder(), undecided).End(nil)
	if n := len(watcher.Decisions()); n != 0 {
		t.Errorf("%d decisions on what nobody decided", n)
	}
}

// The provider of `authentication` does not see what limits behind it do.
func TestRefusalBehindAProviderIsReportedSeparately(t *testing.T) {
	feed := watch.NewFeed()
	watcher, err := feed.Subscribe(watch.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	defer watcher.Close()
	r := newRequest(make(map[string]any))
	o := ObserveUnseen(feed, r)
	ObserveGuard(feed, r, GuardDecision{})
	o.EndUnseen(0)
	ObserveLimit(feed, r, 0, "")
	ObserveLimit(feed, r, http.StatusTooManyRequests, "rate_limited")
	if first, second := <-watcher.Decisions(), <-watcher.Decisions(); first.Outcome != watch.Allowed || first.Status != 0 || second.Outcome != watch.Refused || second.Status != http.StatusTooManyRequests {
		t.Errorf("%+v %+v", first, second)
	}
}
