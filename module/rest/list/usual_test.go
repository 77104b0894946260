package list

import "testing"

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
		{"more, and the answer has its limit", "page=2&limit=3", n(15), n(90), 9, `{"total":90,"page":2,"limit":15,"total_pages":6}`, false},
		{"more than the limit in the answer too", "page=2&limit=3", n(5), n(90), 9, `{"total":90,"page":2,"limit":9,"total_pages":10}`, false},
		{"no limit asked for", "page=2", nil, n(90), 9, `{"total":90,"page":2,"limit":9,"total_pages":10}`, true},
	} {
		q := Usual(parse(t, c.asked))
		early := q.Linked(c.total, c.elements)
		q.Fit(c.told, c.total, c.elements)
		if got := string(q.Pagination(nil, c.total)); got != c.want || q.Linked(c.total, c.elements) != c.linked {
			t.Errorf("%s: %s, linked %v", c.name, got, q.Linked(c.total, c.elements))
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
