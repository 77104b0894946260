package list

import (
	"maps"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// articles is a list with one of everything.
func articles() *Config {
	return &Config{
		Send:   Send{Offset: "start", Limit: "count", Sort: "order", SortFormat: "{field} {dir}", State: "st"},
		Sort:   []Name{{"created_at", "ctime"}, {"title", ""}},
		States: []Name{{"published", "1"}, {"draft", "0"}},
		Filters: []Filter{
			{Name: Name{"tag", "t"}},
			{Name: Name{"kind", ""}, Values: []Name{{"news", "n"}, {"blog", ""}}},
		},
	}
}

func parse(t *testing.T, text string) url.Values {
	t.Helper()
	v, err := url.ParseQuery(text)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestListQueryIsTranslatedToTheUpstreams(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*Config)
		asked  string
		sent   string
	}{
		{"nothing", nil, "", "count=20&start=0"},
		{"a page", nil, "page=3&limit=7", "count=7&start=14"},
		{"page before limit in the address", nil, "limit=7&page=3", "count=7&start=14"},
		{"the most", nil, "limit=100", "count=100&start=0"},
		{"descending", nil, "sort=-created_at", "count=20&order=ctime+desc&start=0"},
		{"ascending", nil, "sort=title", "count=20&order=title+asc&start=0"},
		{"a state", nil, "state=draft", "count=20&st=0&start=0"},
		{"filters", nil, "tag=a%26b%3Dc&kind=news", "count=20&kind=n&start=0&t=a%26b%3Dc"},
		{"the conventions' own names", func(c *Config) { *c = Config{Sort: c.Sort, States: []Name{{Name: "x"}}} }, "page=2&sort=-title&state=x", "limit=20&page=2&sort=-title&state=x"},
		{"a parameter for the direction", func(c *Config) {
			c.Send = Send{Sort: "by", Direction: "dir", Ascending: "ASC", Descending: "DESC"}
		}, "sort=-created_at", "by=ctime&dir=DESC&limit=20&page=1"},
		{"a format with words of the upstream's", func(c *Config) { c.Send.Ascending, c.Send.Descending = "up", "down" }, "sort=title", "count=20&order=title+up&start=0"},
		{"a field that looks like the format", func(c *Config) { c.Sort = []Name{{"x", "{dir}"}} }, "sort=-x", "count=20&order=%7Bdir%7D+desc&start=0"},
		{"a list that is cut here", func(c *Config) { c.Paginate = "local" }, "page=2&state=draft", "st=0"},
		{"another default", func(c *Config) { c.Default, c.Max = 5, 10 }, "", "count=5&start=0"},
		{"a max below the usual default", func(c *Config) { c.Max = 10 }, "", "count=10&start=0"},
		{"a default above the usual max", func(c *Config) { c.Default = 500 }, "limit=500", "count=500&start=0"},
		{"the last page that 32 bits count", nil, "limit=100&page=21474836", "count=100&start=2147483500"},
	} {
		t.Run(c.name, func(t *testing.T) {
			config := articles()
			if c.change != nil {
				c.change(config)
			}
			if err := config.Check(); err != nil {
				t.Fatal(err)
			}
			q, refused := config.Parse(parse(t, c.asked))
			if refused != nil {
				t.Fatal(refused)
			}
			sent := url.Values{}
			q.Send(sent)
			if got := sent.Encode(); got != c.sent {
				t.Errorf("sent %s, not %s", got, c.sent)
			}
		})
	}
}

func TestUndeclaredParametersAreRefusedByName(t *testing.T) {
	long := strings.Repeat("x", MaxText+1)
	for asked, field := range map[string]string{
		"page=":  "page",
		"page=0": "page", "page=-1": "page", "page=%2B1": "page", "page=01": "page", "page=1e3": "page", "page=1.0": "page", "page=0x1": "page",
		"page=1_0": "page", "page=%201": "page", "page=1%00": "page", "page=%EF%BC%91": "page", "page=99999999999999999999": "page",
		"page=21474837&limit=100": "page", "page=2147483648": "page",
		"limit=": "limit", "limit=0": "limit", "limit=101": "limit", "limit=%2B5": "limit", "limit=020": "limit", "limit=1e1": "limit", "limit=all": "limit",
		"page=1&page=2": "page", "limit=1&limit=1": "limit", "sort=title&sort=title": "sort", "state=draft&state=draft": "state", "tag=a&tag=b": "tag",
		"sort=": "sort", "sort=-": "sort", "sort=--title": "sort", "sort=subject": "sort", "sort=%2Btitle": "sort", "sort=title,created_at": "sort", "sort=ctime": "sort", "sort=Title": "sort",
		"state=": "state", "state=1": "state", "state=Draft": "state",
		"tag=": "tag", "tag=a%00": "tag", "tag=a%0Ab": "tag", "tag=%FF": "tag", "tag=" + long: "tag",
		"kind=": "kind", "kind=n": "kind", "kind=other": "kind",
		"t=a": "t", "start=5": "start", "count=5": "count", "order=x": "order", "PAGE=1": "PAGE", "page%5B%5D=1": "page[]", "tag[]=a": "tag[]", "=": "", "x": "x",
		"offset=5": "offset", "_method=DELETE": "_method",
		"page=x&limit=x": "limit", "x=1&a=1": "a", // always the same one
	} {
		for range 5 {
			_, refused := articles().Parse(parse(t, asked))
			if refused == nil {
				t.Errorf("%s is accepted", asked)
				break
			}
			if refused.Status != 400 || refused.Field != field || refused.Message == "" || refused.Code != "" {
				t.Errorf("%s: %d %q %q, not the field %q", asked, refused.Status, refused.Field, refused.Message, field)
				break
			}
		}
	}
}

func TestListWithoutSortAndStateRefusesThem(t *testing.T) {
	for _, asked := range []string{"sort=x", "sort=", "state=x", "state="} {
		_, refused := new(Config).Parse(parse(t, asked))
		if refused == nil || !strings.Contains(refused.Message, "is not a parameter of this list") {
			t.Errorf("%s: %v", asked, refused)
		}
	}
}

func TestRefusalListsSortFields(t *testing.T) {
	_, refused := articles().Parse(parse(t, "sort=x"))
	if want := "sort must be one of the fields that this list is sorted by, with - in front for the descending order: created_at, title"; refused.Message != want {
		t.Error(refused.Message)
	}
	if _, refused = articles().Parse(parse(t, "limit=101")); refused.Message != "limit must be a number from 1 to 100" {
		t.Error(refused.Message)
	}
}

func TestSliceOfTheUpstreamsElements(t *testing.T) {
	local := articles()
	local.Paginate = "local"
	for _, c := range []struct {
		config     *Config
		skip, take int
	}{{articles(), 0, 7}, {local, 14, 7}} {
		q, refused := c.config.Parse(parse(t, "page=3&limit=7"))
		if refused != nil {
			t.Fatal(refused)
		}
		if skip, take := q.Window(); skip != c.skip || take != c.take {
			t.Errorf("local %v: %d, %d", c.config.Local(), skip, take)
		}
	}
}

// What is accepted is sent whole: nothing of it is lost, and nothing is there that
// was not asked for.
func TestAcceptedRequestIsBoundedAndPassedUnchanged(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := articles()
		if rapid.Bool().Draw(t, "local") {
			c.Paginate = "local"
		}
		value := rapid.OneOf(rapid.SampledFrom([]string{"1", "7", "100", "101", "title", "-title", "draft", "news", "2147483647"}), rapid.String())
		asked := url.Values(rapid.MapOf(rapid.SampledFrom([]string{"page", "limit", "sort", "state", "tag", "kind", "x"}), rapid.SliceOfN(value, 1, 2)).Draw(t, "asked"))
		was := maps.Clone(asked)
		q, refused := c.Parse(asked)
		if diff := cmp.Diff(was, asked); diff != "" {
			t.Fatal(diff)
		}
		if refused != nil {
			if _, ok := asked[refused.Field]; !ok || refused.Status != 400 {
				t.Fatalf("%v: %v", asked, refused)
			}
			return
		}
		judge(t, c, asked, q)
	})
}

type reporter interface {
	Fatalf(format string, args ...any)
}

// judge looks at an accepted request.
func judge(t reporter, c *Config, asked url.Values, q Query) {
	if asked.Has("x") || q.Page < 1 || q.Limit < 1 || q.Limit > 100 || q.Page*q.Limit > 1<<31-1 {
		t.Fatalf("%v: %+v", asked, q)
	}
	sent := url.Values{}
	q.Send(sent)
	expected := 0
	for _, name := range []string{"sort", "state", "tag", "kind"} {
		if asked.Has(name) {
			expected++
		}
	}
	if !c.Local() {
		expected += 2
	}
	if len(sent) != expected {
		t.Fatalf("%v: %v", asked, sent)
	}
	for name, values := range sent {
		if len(values) != 1 || values[0] == "" {
			t.Fatalf("%v: %s %v", asked, name, values)
		}
	}
	if skip, take := q.Window(); skip < 0 || take != q.Limit {
		t.Fatalf("%v: %d, %d", asked, skip, take)
	}
}

func FuzzListParameters(f *testing.F) {
	for _, seed := range []string{
		"", "page=2&limit=5&sort=-title&state=draft&tag=x&kind=blog", "page=01", "page=1&page=1", "limit=9999999999999", "page=2147483647&limit=1",
		"page=%2B1", "sort=-", "tag=%00", "tag=a;b", "%zz", "page=21474836&limit=100", "state=1", "&&=&",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		asked, err := url.ParseQuery(text)
		if err != nil {
			return // refused before it comes here
		}
		c := articles()
		q, refused := c.Parse(asked)
		if refused != nil {
			if _, ok := asked[refused.Field]; !ok || refused.Status != 400 {
				t.Fatalf("%q: %v", text, refused)
			}
			return
		}
		judge(t, c, asked, q)
		follow(t, c, q, asked)
	})
}
