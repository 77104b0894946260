package compose_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/module/rest/compose"
)

// R11: what stands behind `as form` and `as json`, and what it becomes.
func TestMembersAreComposed(t *testing.T) {
	const id = `a"b\&=%{name}é`
	query := map[string]string{"q": `x"}`, "start": "40"}
	for _, c := range []struct {
		json    bool
		members string // with ; between them
		want    string
	}{
		{true, `id={id}`, `{"id":"a\"b\\&=%{name}é"}`},
		{true, `n={n|int};t={n}`, `{"n":12,"t":"12"}`},
		{true, `a=1;b=-1.5e3;c=true;d=null;e=01;f=;g=text`, `{"a":1,"b":-1.5e3,"c":true,"d":null,"e":"01","f":"","g":"text"}`},
		{true, `a="1"`, `{"a":"1"}`},
		{true, `/a/b=1;c=2;/a/d/e={n}`, `{"a":{"b":1,"d":{"e":"12"}},"c":2}`},
		{true, `/arguments/ids[]={n|int};x[]=true`, `{"arguments":{"ids":[12]},"x":[true]}`},
		{true, `a=[{n|int},"x",{"b":{id}}]`, `{"a":[12,"x",{"b":"a\"b\\&=%{name}é"}]}`},
		{true, `a={"b":{n}};c={}`, `{"a":{"b":"12"},"c":{}}`},
		{true, `q="query($id:Int!){articleById(id:$id){id title}}";/variables/id={n|int}`, `{"q":"query($id:Int!){articleById(id:$id){id title}}","variables":{"id":12}}`},
		{true, `q="{a{ok}...{other}...F{x:$y}{ id }}\\{z\"}{"`, `{"q":"{a{ok}...{other}...F{x:$y}{ id }}\\{z\"}{"}`},
		{true, `a={"q":"{ok}","v":{"b":{n|int},"c":["}{",{n}]}}`, `{"a":{"q":"{ok}","v":{"b":12,"c":["}{","12"]}}}`},
		{true, `a=Talk:{n}/{n}!`, `{"a":"Talk:12/12!"}`},
		{true, `a={n}{n}`, `{"a":"1212"}`},
		{true, `q={query.q};/page/from={query.start|int};none={query.none};/o/none={query.none}`, `{"q":"x\"}","page":{"from":40},"o":{}}`},
		{false, `hashes={n};deleteFiles=false;n=1;j=[1]`, `{"hashes":"12","deleteFiles":"false","n":"1","j":"[1]"}`},
		{false, `a="1";/f/id={n|int};ids[]={n}`, `{"a":"\"1\"","f":{"id":12},"ids":["12"]}`},
		{false, `$a=x=y&z;@b=1`, `{"$a":"x=y&z","@b":"1"}`},
	} {
		tpl, err := compose.Parse(list(c.members), c.json, []string{"id", "n"})
		if err != nil {
			t.Errorf("%s: %v", c.members, err)
			continue
		}
		got, err := tpl.Fill([]string{id, "12"}, func(name string) (string, bool) { v, ok := query[name]; return v, ok })
		if err != nil || string(got) != c.want {
			t.Errorf("%s: %s %v, want %s", c.members, got, err, c.want)
		}
	}
}

func list(text string) (all []compose.Member) {
	for m := range strings.SplitSeq(text, ";") {
		name, value, _ := strings.Cut(m, "=")
		all = append(all, compose.Member{Name: name, Value: value})
	}
	return all
}

func TestInvalidComposedMembersAreRefused(t *testing.T) {
	for members, want := range map[string]string{
		`a b=1`: "invalid name 'a b'", `=1`: "invalid name", `a[b]=1`: "or a pointer", `$=1`: "invalid name", `/=1`: "invalid name", `/a~2=1`: "/a~2",
		`a=1;a=2`: "a is given twice", `a=1;/a/b=2`: "/a/b: a has a value", `/a/b=1;a=2`: "a is given twice", `a[]=1;a=1`: "a is given twice",
		`a={x}`:           "unexpected placeholder {x}, expected {id}, {id|int}",
		`a={body}`:        "unexpected placeholder {body}",
		`a=[{body.x}]`:    "unexpected placeholder {body.x}",
		`a=[{env.TOKEN}]`: "send fixed body", `a=["x{file./run/token}"]`: "in quotes",
		`a=[{x}]`:                              "unexpected placeholder {x}",
		`a={env.TOKEN}`:                        "send fixed body",
		`a=x{id|int}`:                          "{id|int} has text beside it",
		`a=x{query.q}`:                         "{query.q} has text beside it",
		`a=x{`:                                 "a brace stands alone",
		`a=x}{id}`:                             "a brace stands alone",
		`a=[1`:                                 "invalid JSON",
		`a=[1],2`:                              "",
		`a="x`:                                 "invalid JSON",
		`a="{id}"`:                             "in quotes",
		`a="x{id|int}"`:                        "in quotes",
		`a="query{article(id:{id}){title}}"`:   "in quotes",
		`a=["{query.q}"]`:                      "in quotes",
		`a={"b":"{env.TOKEN}"}`:                "in quotes",
		`a="{http.auth.user.id}"`:              "in quotes",
		`a="\{ok}"`:                            "",
		`a={"b":"{ok}","c":{x}}`:               "unexpected placeholder {x}",
		`a={"b":1`:                             "invalid JSON",
		`a={"b":1,"b":2}`:                      "invalid JSON",
		`a={{id}:1}`:                           "",
		"a=x\ny":                               "control characters",
		"a=\x00":                               "control characters",
		`/0/1/2/3/4/5/6/7/8/9/a/b/c/d/e/f/g=1`: "17 levels",
		"a=" + strings.Repeat("x", 8<<10+1):    "8193 bytes",
		strings.Repeat("a", 101) + "=1":        "invalid name",
		strings.TrimSuffix(strings.Repeat("a=1;", 101), ";"): "101 members",
	} {
		_, err := compose.Parse(list(members), true, []string{"id"})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60s: %v, want %s", members, err, want)
		}
	}
	if _, err := compose.Parse(list("a={query}"), true, []string{"query"}); err == nil {
		t.Error("a placeholder named query can be taken for a parameter")
	}
	tpl, err := compose.Parse(list("a={id|int}"), true, []string{"id"})
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"x", "1.0", "01", "1e3", "-0", "1234567890123456789", ""} {
		if got, err := tpl.Fill([]string{id}, nil); err == nil {
			t.Errorf("%s became %s", id, got)
		}
	}
}

// At most 100 members, and each has its own value.
func TestMemberCountIsLimited(t *testing.T) {
	var many []compose.Member
	for i := range 100 {
		many = append(many, compose.Member{Name: fmt.Sprint("m", i), Value: "x{id}"})
	}
	tpl, err := compose.Parse(many, true, []string{"id"})
	if err != nil {
		t.Fatal(err)
	}
	got, err := tpl.Fill([]string{"7"}, nil)
	if err != nil || strings.Count(string(got), `:"x7"`) != 100 || len(tpl.Names()) != 100 {
		t.Errorf("%s %v", got, err)
	}
}

// Whatever a value is, it adds no member and changes none.
func FuzzValuesChangeNoOtherMember(f *testing.F) {
	for _, seed := range []string{`"`, `\`, `","b":2,"x":"`, "{id}", "{T0}", "\x00", "\u2028", "&b=2", "é"} {
		f.Add(seed, seed)
	}
	tpl, err := compose.Parse(list(`a={id};b=1;/c/d=x{id}y{n};e=[{n},{query.q}];f={query.q}`), true, []string{"id", "n"})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, id, q string) {
		got, err := tpl.Fill([]string{id, q}, func(string) (string, bool) { return q, true })
		if err != nil {
			t.Fatal(err)
		}
		plain := func(s string) string { return strings.ToValidUTF8(s, "\ufffd") }
		var have struct {
			A, F string
			B    int
			C    struct{ D string }
			E    []string
		}
		d := json.NewDecoder(bytes.NewReader(got))
		d.DisallowUnknownFields()
		if err := d.Decode(&have); err != nil {
			t.Fatalf("%s: %v", got, err)
		}
		if len([]rune(plain(id))) == len([]rune(id)) && plain(id) == id && plain(q) == q &&
			(have.A != id || have.B != 1 || have.C.D != "x"+id+"y"+q || len(have.E) != 2 || have.E[0] != q || have.E[1] != q || have.F != q) {
			t.Errorf("%q %q became %s", id, q, got)
		}
	})
}

// A value is escaped for the body, not for the query that an API reads from a text in it.
func TestValuesEndNoQuotesOfAText(t *testing.T) {
	for _, c := range []struct {
		member, id string
		ends       bool
	}{
		{`q=owner:"me" AND id:"{id}"`, `x" OR owner:"bob`, true},
		{`q=owner:"me" AND id:"{id}"`, `x\`, true},
		{`q=owner:"me" AND id:"{id}"`, `it's`, false},
		{`q=a:"{n}" AND id:'{id}'`, `'`, true},
		{`filter=path eq 'C:\' and id eq '{id}'`, `'`, true},
		{`/a/b[]=x'{id}'`, `'`, true},
		{`q=owner:"me" AND id:{id}`, `"`, false},
		{`t=Talk:{id}`, `it's "x"`, false},
		{`id={id}`, `it's "x"`, false},
		{`comment=It's {id}`, "O'Brien", false}, // no quote is closed
	} {
		for _, asJSON := range []bool{true, false} {
			tpl, err := compose.Parse(list(c.member), asJSON, []string{"id", "n"})
			if err != nil {
				t.Fatal(c.member, err)
			}
			if tpl.EndsQuotes([]string{c.id, "1"}) != c.ends {
				t.Errorf("%s with %s: %t", c.member, c.id, !c.ends)
			}
		}
	}
	tpl, err := compose.Parse(list(`a=[{id},"'"]`), true, []string{"id"})
	if err != nil || tpl.EndsQuotes([]string{`"'`}) {
		t.Error("a value that becomes JSON ends quotes:", err)
	}
}
