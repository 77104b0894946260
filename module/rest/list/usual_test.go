package list

import (
	"fmt"
	"testing"
)

func TestLongerPageAdjustsThePagination(t *testing.T) {
	n := func(n int64) *int64 { return &n }
	for _, c := range []struct {
		name, asked string
		told, total *int64
		elements    int64
		want        string
		linked      bool
	}{
		{"as many as were asked for", "page=2&limit=3", nil, n(9), 3, `{"total":9,"page":2,"limit":3,"total_pages":3}`, true},
		{"more, and nothing is known", "page=2&limit=3", nil, nil, 9, `{"total":null,"page":1,"limit":9,"total_pages":null}`, false},
		{"more, and all of them", "page=2&limit=3", nil, n(9), 9, `{"total":9,"page":1,"limit":9,"total_pages":1}`, false},
		{"more, and not all", "page=2&limit=3", nil, n(90), 9, `{"total":90,"page":2,"limit":9,"total_pages":10}`, false},
		{"more, and the answer has its limit", "page=2&limit=3", n(15), n(90), 9, `{"total":90,"page":null,"limit":15,"total_pages":6}`, false},
		{"more than the limit in the answer too", "page=2&limit=3", n(5), n(90), 9, `{"total":90,"page":null,"limit":9,"total_pages":10}`, false},
		{"no limit asked for", "page=2", nil, n(90), 9, `{"total":90,"page":2,"limit":9,"total_pages":10}`, true},
	} {
		q := Usual(parse(t, c.asked))
		early := q.Linked(Position{Limit: c.told}, c.total, c.elements)
		q.Fit(Position{Limit: c.told}, c.total, c.elements)
		linked := q.Linked(Position{Limit: c.told}, c.total, c.elements)
		if got := string(q.Pagination(nil, c.total)); got != c.want || linked != c.linked {
			t.Errorf("%s: %s, linked %v", c.name, got, linked)
		}
		if early && !c.linked {
			t.Errorf("%s: linked before it was known to be whole", c.name)
		}
	}
	if q := (Query{Limit: 2, config: &Config{}}); !q.Exceeded(3) || q.Exceeded(2) {
		t.Error("a declared list that the upstream cuts")
	}
	if q := (Query{Limit: 2, config: &Config{Paginate: "local"}}); q.Exceeded(3) {
		t.Error("a list that is cut here")
	}
}

func TestPageThatStraysHasNoNumberAndNoLinks(t *testing.T) {
	n := func(n int64) *int64 { return &n }
	const first, none = `"page":1,`, `"page":null,`
	for _, c := range []struct {
		name, asked  string
		at           Position
		page         string
		limit, pages int64
		linked       bool
	}{
		{"nothing is said", "page=2&limit=10", Position{}, `"page":2,`, 10, 5, true},
		{"the page that was asked for", "page=2&limit=10", Position{Page: n(2), Limit: n(10)}, `"page":2,`, 10, 5, true},
		{"its offset", "page=2&limit=10", Position{Offset: n(10)}, `"page":2,`, 10, 5, true},
		{"its offset and the API's own limit", "page=3", Position{Offset: n(20), Limit: n(10)}, `"page":3,`, 10, 5, true},
		{"some offset, of no limit", "page=3", Position{Offset: n(20)}, `"page":3,`, 5, 9, true},
		{"the first page by number and offset", "", Position{Page: n(1), Offset: n(0), Limit: n(10)}, first, 10, 5, true},
		{"another page", "page=2&limit=10", Position{Page: n(1), Limit: n(10)}, none, 10, 5, false},
		{"pages that begin with 0", "limit=10", Position{Page: n(0)}, none, 10, 5, false},
		{"another offset", "page=2&limit=10", Position{Offset: n(0)}, none, 10, 5, false},
		{"another offset, of no limit", "page=2", Position{Offset: n(0)}, none, 5, 9, false},
		{"another limit", "limit=20", Position{Limit: n(10)}, none, 10, 5, false},
		{"an offset in the API's words", "", Position{Offset: n(2), Limit: n(3)}, none, 3, 15, false},
		{"an offset and no page", "", Position{Offset: n(0), Limit: n(10)}, first, 10, 5, false},
	} {
		q, total, elements := Usual(parse(t, c.asked)), n(45), int64(5)
		early := q.Linked(c.at, total, elements)
		q.Fit(c.at, total, elements)
		want := fmt.Sprintf(`{"total":45,%s"limit":%d,"total_pages":%d}`, c.page, c.limit, c.pages)
		if got := string(q.Pagination(nil, total)); got != want || q.Linked(c.at, total, elements) != c.linked || early && !c.linked {
			t.Errorf("%s: %s, linked %v", c.name, got, !c.linked)
		}
	}
}
