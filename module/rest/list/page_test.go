package list

import (
	"encoding/json"
	"math"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func of(n int64) *int64 { return &n }

func TestPaginationObject(t *testing.T) {
	for _, c := range []struct {
		page, limit int
		total       *int64
		want        string
	}{
		{1, 20, of(0), `{"total":0,"page":1,"limit":20,"total_pages":0}`},
		{1, 20, of(1), `{"total":1,"page":1,"limit":20,"total_pages":1}`},
		{1, 20, of(20), `{"total":20,"page":1,"limit":20,"total_pages":1}`},
		{2, 20, of(21), `{"total":21,"page":2,"limit":20,"total_pages":2}`},
		{9, 20, of(21), `{"total":21,"page":9,"limit":20,"total_pages":2}`},
		{1, 20, nil, `{"total":null,"page":1,"limit":20,"total_pages":null}`},
		{1, 1, of(math.MaxInt64), `{"total":9223372036854775807,"page":1,"limit":1,"total_pages":9223372036854775807}`},
		{1, 100, of(math.MaxInt64), `{"total":9223372036854775807,"page":1,"limit":100,"total_pages":92233720368547759}`},
	} {
		q := Query{Page: c.page, Limit: c.limit, config: new(Config)}
		if got := string(q.Pagination(nil, c.total)); got != c.want {
			t.Errorf("%s, not %s", got, c.want)
		}
	}
}

func TestTotalMustBeDigits(t *testing.T) {
	for text, want := range map[string]*int64{
		"0": of(0), "57": of(57), " 57 ": of(57), "0057": of(57), "9223372036854775807": of(math.MaxInt64), "9223372036854775808": nil,
		"": nil, "-1": nil, "+1": nil, "1e3": nil, "57.0": nil, "0x10": nil, "1_000": nil, "1,000": nil, "many": nil, "\uff11": nil, "5 7": nil,
	} {
		if got := ReadTotal(text); (got == nil) != (want == nil) || got != nil && *got != *want {
			t.Errorf("%q", text)
		}
	}
}

func TestTotalFromHeader(t *testing.T) {
	c := &Config{TotalHeader: "x-total-count"}
	for _, e := range []struct {
		values []string
		want   *int64
	}{
		{nil, nil},
		{[]string{"57"}, of(57)},
		{[]string{"57", "57"}, of(57)},
		{[]string{"57", "58"}, nil},
		{[]string{"57", "x"}, nil},
		{[]string{"0-19/57"}, of(57)},
		{[]string{"items 0-19/57"}, of(57)},
		{[]string{"*/0"}, of(0)},
		{[]string{"0-19/*"}, nil},
		{[]string{"57, 57"}, nil},
	} {
		got := c.HeaderTotal(http.Header{"X-Total-Count": e.values})
		if (got == nil) != (e.want == nil) || got != nil && *got != *e.want {
			t.Error(e.values)
		}
	}
}

var linked = regexp.MustCompile(`^<([!#-;=?-~]*)>; rel="([a-z]+)"$`)

// read takes a Link header apart, as strictly as any client may.
func read(t reporter, header string) map[string]string {
	links := make(map[string]string)
	for one := range strings.SplitSeq(header, ", ") {
		m := linked.FindStringSubmatch(one)
		if m == nil || links[m[2]] != "" {
			t.Fatalf("no link, or twice: %s", one)
			return nil
		}
		links[m[2]] = m[1]
	}
	return links
}

func TestPageLinksFirstPrevNextLast(t *testing.T) {
	for _, c := range []struct {
		name  string
		asked string
		seen  Seen
		want  string // the pages of first, prev, next and last
	}{
		{"the first of three", "", Seen{of(41), 20}, "1 - 2 3"},
		{"the second of three", "page=2", Seen{of(41), 20}, "1 1 3 3"},
		{"the last of three", "page=3", Seen{of(41), 1}, "1 2 - 3"},
		{"full to the brim", "page=2", Seen{of(40), 20}, "1 1 - 2"},
		{"beyond the end", "page=9", Seen{of(41), 0}, "1 3 - 3"},
		{"of an empty list", "", Seen{of(0), 0}, "1 - - 1"},
		{"beyond the end of an empty list", "page=3", Seen{of(0), 0}, "1 1 - 1"},
		{"a full page of nobody knows how many", "", Seen{nil, 20}, "1 - 2 -"},
		{"a page of which more may come", "page=2", Seen{nil, -1}, "1 1 3 -"},
		{"a page that is not full", "page=2", Seen{nil, 19}, "1 1 - -"},
		{"an empty page of nobody knows how many", "page=2", Seen{nil, 0}, "1 1 - -"},
		{"the total is believed, not the elements", "", Seen{of(41), 3}, "1 - 2 3"},
		{"the total is there while elements come", "", Seen{of(41), -1}, "1 - 2 3"},
		{"more than can be asked for", "limit=1", Seen{of(math.MaxInt64), 1}, "1 - 2 -"},
		{"the last that can be asked for", "limit=100&page=21474836", Seen{of(math.MaxInt64), 100}, "1 21474835 - -"},
	} {
		t.Run(c.name, func(t *testing.T) {
			asked := parse(t, c.asked)
			q, refused := articles().Parse(asked)
			if refused != nil {
				t.Fatal(refused)
			}
			links := read(t, q.LinkHeader("/v1/articles", asked, c.seen))
			var got []string
			for _, rel := range []string{"first", "prev", "next", "last"} {
				page := "-"
				if to, ok := links[rel]; ok {
					u, err := url.Parse(to)
					if err != nil || u.Path != "/v1/articles" || u.Query().Get("limit") != strconv.Itoa(q.Limit) {
						t.Errorf("%s: %s", rel, to)
					}
					page = u.Query().Get("page")
				}
				got = append(got, page)
			}
			if s := strings.Join(got, " "); s != c.want {
				t.Errorf("%s, not %s", s, c.want)
			}
		})
	}
}

func TestPageLinksKeepTheOtherParameters(t *testing.T) {
	asked := parse(t, "tag=a%26b%3E%20%22&sort=-title&page=2&state=draft")
	q, refused := articles().Parse(asked)
	if refused != nil {
		t.Fatal(refused)
	}
	want := `</students/a%2Fb/articles?limit=20&page=1&sort=-title&state=draft&tag=a%26b%3E%20%22>; rel="first"`
	if got := q.LinkHeader("/students/a%2Fb/articles", asked, Seen{Elements: 0}); !strings.HasPrefix(got, want+", ") {
		t.Error(got)
	}
	if asked.Get("page") != "2" || asked.Has("limit") {
		t.Error("the client's query was changed:", asked)
	}
}

// follow asks for whatever a page links to.
func follow(t reporter, c *Config, q Query, asked url.Values) {
	for _, total := range []*int64{nil, of(0), of(1), of(int64(q.Limit) * int64(q.Page)), of(math.MaxInt64)} {
		for _, elements := range []int64{-1, 0, int64(q.Limit)} {
			for rel, to := range read(t, q.LinkHeader("/v1/articles", asked, Seen{total, elements})) {
				u, err := url.Parse(to)
				if err != nil {
					t.Fatalf("%s: %v", to, err)
				}
				query, err := url.ParseQuery(u.RawQuery)
				if err != nil {
					t.Fatalf("%s: %v", to, err)
				}
				next, refused := c.Parse(query)
				if refused != nil {
					t.Fatalf("%s leads to %s: %v", rel, to, refused)
				}
				if next.Limit != q.Limit || next.Sort != q.Sort || next.Descending != q.Descending || next.State != q.State || next.Filters.Encode() != q.Filters.Encode() {
					t.Fatalf("%s leads to another list: %s", rel, to)
				}
			}
		}
		var p struct {
			Pages *int64 `json:"total_pages"`
		}
		if text := q.Pagination(nil, total); json.Unmarshal(text, &p) != nil || (p.Pages == nil) != (total == nil) {
			t.Fatalf("%s", text)
		}
	}
}

func TestPageLinksAreValidAndKeepTheList(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := articles()
		limit := rapid.IntRange(1, 100).Draw(t, "limit")
		asked := url.Values{
			"limit": {strconv.Itoa(limit)},
			"page":  {strconv.Itoa(rapid.OneOf(rapid.IntRange(1, 5), rapid.IntRange(1, Reach/limit), rapid.Just(Reach/limit)).Draw(t, "page"))},
		}
		if rapid.Bool().Draw(t, "filtered") {
			asked.Set("tag", rapid.StringMatching(`[^\x00-\x1f\x7f-\x9f]{1,20}`).Draw(t, "tag"))
			asked.Set("sort", "-title")
		}
		q, refused := c.Parse(asked)
		if refused != nil {
			t.Fatalf("%v", refused)
		}
		follow(t, c, q, asked)
	})
}
