package watch

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// Parameters are the names of the filters in a query.
var Parameters = []string{"client", "user", "path", "status", "refused"}

// Filter selects decisions. The zero value selects all.
type Filter struct {
	Client, User string
	Path         string // a prefix
	Statuses     []Statuses
	Refused      bool // by the gateway
}

// Statuses is a range of status codes.
type Statuses struct{ From, To int }

// ParseStatuses parses a comma-separated list of codes and classes, such as `429,5xx`.
func ParseStatuses(list string) (all []Statuses, err error) {
	for word := range strings.SplitSeq(list, ",") {
		if class, ok := strings.CutSuffix(strings.ToLower(word), "xx"); ok && len(class) == 1 && class >= "1" && class <= "5" {
			from := int(class[0]-'0') * 100
			all = append(all, Statuses{from, from + 99})
			continue
		}
		code, err := strconv.Atoi(word)
		if err != nil || code < 100 || code > 599 {
			return nil, fmt.Errorf("'%s' is no status; expected codes and classes such as 429 or 4xx, with commas between them", word)
		}
		all = append(all, Statuses{code, code})
	}
	return all, nil
}

// ParseFilter reads the parameters of a query.
func ParseFilter(q url.Values) (Filter, error) {
	f := Filter{Client: q.Get("client"), User: q.Get("user"), Path: q.Get("path"), Refused: q.Get("refused") == "true"}
	if !q.Has("status") {
		return f, nil
	}
	var err error
	f.Statuses, err = ParseStatuses(q.Get("status"))
	return f, err
}

// matches reports whether the filter selects a decision.
func (f *Filter) matches(d *Decision) bool {
	return (f.Client == "" || f.Client == d.Client) &&
		(f.User == "" || f.User == d.User) &&
		strings.HasPrefix(d.Path, f.Path) &&
		(!f.Refused || d.Outcome == Refused) &&
		(f.Statuses == nil || slices.ContainsFunc(f.Statuses, func(s Statuses) bool { return s.From <= d.Status && d.Status <= s.To }))
}
