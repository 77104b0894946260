package pathpattern

import "testing"

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
		{`/_api/web/folder/Files/add(url='in/{v}',overwrite=false)`, `x',overwrite=true,z='y`, true},
		{`/add(url='in/{v}',overwrite=false)`, `say "x"`, false},
		{`/add(url=%27in%2F{v}%27)`, `'`, true},
		{`/add(url=%27in/{v}/{v}%27)`, `'`, true},
		{`/it's/add(url='in/{v}')`, `'`, true},
		{`/add(url='in/')/{v}`, `'`, false},
		{`/it's/{v}/a`, `"'`, false},
		{`/a?u='in/{v}'`, `'`, true},
		{`/a?q=%7B"p":"C:%5C%5C","t":"{v}"%7D`, `x","owner":"y`, true},
		{`/a?q=%7B"p":"C:%5C%5C","t":{v}%7D`, `"`, false},
		{`/a?q=%7B"p":"C:%5C%5C%5C"x","t":"{v}"%7D`, `"`, true},
		{`/a?$filter=p%20eq%20'C:%5C'%20and%20t%20eq%20'{v}'`, `'`, true},
		{`/a?where=p='it%5C's%20{v}'`, `'`, true},
		{`/a?where=p='a'%20and%20t='it''s%20{v}'`, `'`, true},
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
