//go:build !race

// One goroutine validates large bodies, which takes long with -race:
// ./xcaddy.sh test runs tests of files like this without -race.

package validate

import (
	"strings"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/rest/turns"
)

const unique = `{"properties":{"list":{"type":"array","uniqueItems":true}},"$defs":{"tree":{"type":"array","uniqueItems":true,"items":{"$ref":"#/$defs/tree"}}},` +
	`"additionalProperties":{"$ref":"#/$defs/tree"}}`

func TestElementsMustDiffer(t *testing.T) {
	for list, differ := range map[string]bool{
		`[]`: true, `[null,false,true,0,"",[],{}]`: true, `["a","b","a"]`: false, `[1,2,1.0]`: false, `[1,2,10e-1]`: false, `[0,-0.0]`: false, `[1,-1]`: true,
		`[1e400,10e399]`: false, `[12345678901234567890,12345678901234567891]`: true, `[1,"1"]`: true, `[true,"true"]`: true, `[null,"null"]`: true,
		`[{"a":1,"b":2},{"b":2,"a":1}]`: false, `[{"a":1},{"a":1,"b":2}]`: true, `[{"a":"b"},{"b":"a"}]`: true, `[[1,2],[2,1]]`: true, `[[1,2],[1,2.0]]`: false,
		`[[[],[]],[[[]]]]`: true, `[["a","b"],["a\u0004b"]]`: true, `[["a","b"],["ab"]]`: true, `[["1:a"],["1","a"]]`: true, `[{"":[]},{"":{}}]`: true, `[12,[1,2]]`: true, `[[12],[1,2]]`: true,
	} {
		o, refused := Parse([]byte(`{"list":` + list + `}`))
		if refused != nil {
			t.Fatal(refused)
		}
		if refused := written(t, unique).Check(turns.Caller{}, nil, o, true); (refused == nil) != differ {
			t.Errorf("%s: %v", list, refused)
		} else if refused != nil && (refused.Field != "list" || !strings.Contains(refused.Message, "differ")) {
			t.Errorf("%s: %q: %s", list, refused.Field, refused.Message)
		}
	}
}

// shapes returns lists of n lists in one another, all that there are.
func shapes(n int) (all []string) {
	if n == 0 {
		return []string{""}
	}
	for first := range n {
		for _, inside := range shapes(first) {
			for _, others := range shapes(n - 1 - first) {
				all = append(all, strings.TrimSuffix("["+inside+"],"+others, ","))
			}
		}
	}
	return all
}

// The elements of the lists have what a hash that does not tell where lists end takes for the same.
func TestManyElementsDifferInReasonableTime(t *testing.T) {
	many := shapes(10)
	for name, c := range map[string]struct {
		body   string
		status int
	}{
		"lists":                {`{"list":[[1,[` + strings.Join(many, `]],[1,[`) + `]]]}`, 0},
		"equal texts":          {`{"list":[0` + strings.Repeat(`,""`, 200_000) + `]}`, 400},
		"lists in one another": {`{"tree":` + strings.Repeat("[[],", 100) + "[[" + strings.Join(many, "],[") + "]]" + strings.Repeat("]", 100) + `}`, 413},
	} {
		o, refused := Parse([]byte(c.body))
		if refused != nil {
			t.Fatal(refused)
		}
		s, begun, status := written(t, unique), time.Now(), 0
		if refused = s.Check(turns.Caller{}, nil, o, false); refused != nil {
			status = refused.Status
		}
		if took := time.Since(begun); status != c.status || took > 20*time.Second {
			t.Errorf("%s, %d bytes: %d after %v, want %d", name, len(c.body), status, took, c.status)
		}
	}
}
