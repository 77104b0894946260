package pathpattern

import (
	"net/url"
	"testing"
)

func TestBlanksInQueriesArePercentEncoded(t *testing.T) {
	if got := EscapeQuery("a b+c&ü"); got != "a%20b%2Bc%26%C3%BC" {
		t.Error(got)
	}
	if got := EncodeQuery(url.Values{"b c": {"x+y z", ""}, "a": {"1"}}); got != "a=1&b%20c=x%2By%20z&b%20c=" {
		t.Error(got)
	}
}

// A value is escaped for URLs, not for the JSON or OData inside them.
func TestValuesEndNoQuotes(t *testing.T) {
	for _, c := range []struct {
		upstream, value string
		ends            bool
	}{
		{`/a?q=%7B%22t%22:%22{v}%22%7D`, `x","owner":"y`, true},
		{`/a?q=%7B%22t%22:%22{v}%22%7D`, `x\`, true},
		{`/a?q=%7B%22t%22:%22{v}%22%7D`, `it's`, false},
		{`/a?q=["{v}"]`, `"`, true},
		{`/a?q=%7B%22t%22:%22a%5C%22{v}%22%7D`, `"`, true},
		{`/a?$filter=t%20eq%20'{v}'`, `x' or 1 eq '1`, true},
		{`/a?$filter=t%20eq%20%27{v}%27`, `say "x"`, false},
		{`/a?q=%7B%22where%22:%22t=%27{v}%27%22%7D`, `'`, true},
		{`/a?q=%7B%22where%22:%22t=%27{v}%27%22%7D`, `"`, true},
		{`/a?q=%22x%22&t={v}`, `"'\`, false},
		{`/a?q=%22x&t={v}`, `"'\`, false},
		{`/a?q=%22it's%22:{v}`, `"'\`, false},
		{`/a/'{v}'`, `'`, true},
		{`/Books('{v}')`, `x',Other='y`, true},
		{`/Books(%27{v}%27)`, `x\`, true},
		{`/Books('{v}')`, `say "x"`, false},
		{`/it's/{v}`, `'`, false},
		{`/a/'{v}'/b?q={v}`, `"`, false},
	} {
		template, err := ParseTemplate(c.upstream, []string{"v"})
		if err != nil {
			t.Errorf("%s: %v", c.upstream, err)
			continue
		}
		if template.EndsQuotes([]string{c.value}) != c.ends {
			t.Errorf("%s with %s: %t", c.upstream, c.value, !c.ends)
		}
	}
}
