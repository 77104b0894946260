package list

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

func TestInvalidListConfigIsRefusedWithItsOption(t *testing.T) {
	for _, c := range []struct {
		config, want string
	}{
		{`{"default": -1}`, "default -1"},
		{`{"max": -1}`, "max -1"},
		{`{"default": 50, "max": 10}`, "default 50, max 10"},
		{`{"max": 2147483648}`, "max 2147483648"},
		{`{"paginate": "remote"}`, "paginate remote: expected local"},
		{`{"items": "list"}`, "items list"},
		{`{"total": "total"}`, "total total"},
		{`{"total": "/total", "total_header": "X-Total"}`, "not both"},
		{`{"total_header": "X Total"}`, "total_header X Total"},
		{`{"sort": [{"name": ""}]}`, "sort: expected a name"},
		{`{"sort": [{"name": "a"}, {"name": "a"}]}`, "sort a: it is declared twice"},
		{`{"sort": [{"name": "-a"}]}`, "sort -a"},
		{`{"states": [{"name": "a"}, {"name": "a", "upstream": "b"}]}`, "states a"},
		{`{"filters": [{"name": "page"}]}`, "filter page"},
		{`{"filters": [{"name": "a"}, {"name": "a"}]}`, "filters a"},
		{`{"filters": [{"name": "a", "values": [{"name": ""}]}]}`, "filter a: expected a name"},
		{`{"send": {"page": "p", "offset": "o"}}`, "expected one of them"},
		{`{"send": {"page": "p", "limit": "p"}}`, "send limit p: expected another name than that of page"},
		{`{"filters": [{"name": "a", "upstream": "limit"}]}`, "send filter a limit"},
		{`{"sort": [{"name": "a"}], "send": {"direction": "sort"}}`, "send direction sort"},
		{`{"send": {"sort_format": "{dir}"}}`, "expected {field}"},
		{`{"send": {"sort_format": "{field}"}}`, "expected {dir}"},
		{`{"send": {"sort_format": "{field} {direction}"}}`, "no placeholders but"},
		{`{"send": {"ascending": "desc"}}`, "two different words"},
	} {
		config := new(Config)
		if err := json.Unmarshal([]byte(c.config), config); err != nil {
			t.Fatal(c.config, err)
		}
		if err := config.Check(); err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "list: ") {
			t.Errorf("%s: %v", c.config, err)
		}
	}
}

func TestValidListConfigsAreAccepted(t *testing.T) {
	for _, text := range []string{
		`{}`,
		`{"paginate": "local", "filters": [{"name": "a", "upstream": "limit"}]}`, // it is not sent otherwise
		`{"send": {"sort_format": "{field}", "direction": "dir"}}`,
		`{"send": {"sort": "nonesuch"}}`,
		`{"send": {"offset": "page"}}`,
		`{"send": {"state": "limit"}}`, // there are no states
		`{"total_header": "Content-Range", "max": 1, "default": 1}`,
	} {
		config := new(Config)
		if err := json.Unmarshal([]byte(text), config); err != nil {
			t.Fatal(err)
		}
		if err := config.Check(); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestUpstreamParametersAreListed(t *testing.T) {
	if got := articles().Parameters(); !slices.Equal(got, []string{"start", "count", "order", "st", "t", "kind"}) {
		t.Error(got)
	}
}
