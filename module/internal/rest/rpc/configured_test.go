package rpc

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

// values are what placeholders of Caddy stand for in these tests.
var values = strings.NewReplacer("{env.TOKEN}", `s3"cr\é😀`, "{file./run/t}", "<t>", "{env.N}", "17", "{http.auth.user.id}", "ann", "{env.BAD}", "\xff", "{env.NUL}", "\x00")

func fillIn(text string) (string, error) { return values.Replace(text), nil }

func TestConfiguredValuesAreFilledIn(t *testing.T) { // R14
	const secret = `s3\"cr\\\u00e9\ud83d\ude00`
	for _, c := range []struct{ template, json, xml string }{
		{`["token:{env.TOKEN}",{id}]`, `["token:` + secret + `","7"]`, `<param><value><string>token:s3&#34;cr\&#233;&#128512;</string></value></param><param><value><string>7</string></value></param>`},
		{`[{file./run/t}, {env.N|int}, "{env.N}"]`, `["<t>",17,"17"]`, `<param><value><string>&#60;t&#62;</string></value></param><param><value><int>17</int></value></param><param><value><string>17</string></value></param>`},
		{`[{env.N},{"who":"{http.auth.user.id}\n{env.N}","x":[{env.N},{query.r}]}]`, `["17",{"who":"ann\n17","x":["17",null]}]`,
			`<param><value><string>17</string></value></param><param><value><struct><member><name>who</name><value><string>ann&#10;17</string></value></member><member><name>x</name><value><array><data><value><string>17</string></value><value><nil/></value></data></array></value></member></struct></value></param>`},
		{`["a b",{query.r}]`, `["a b",null]`, `<param><value><string>a b</string></value></param><param><value><nil/></value></param>`},
	} {
		tpl, err := Parse(c.template, []string{"id"})
		if err != nil {
			t.Fatal(c.template, err)
		}
		got, err := tpl.Encode("a", request("7", "", ""))
		if err == nil {
			got, err = tpl.Fill(got, false, fillIn)
		}
		if want := `{"jsonrpc":"2.0","method":"a","params":` + c.json + `,"id":1}`; err != nil || string(got) != want {
			t.Errorf("%s: %s %v, want %s", c.template, got, err, want)
		}
		got, err = tpl.EncodeXML("a", request("7", "", ""))
		if err == nil {
			got, err = tpl.Fill(got, true, fillIn)
		}
		if want := `<?xml version="1.0"?><methodCall><methodName>a</methodName><params>` + c.xml + `</params></methodCall>`; err != nil || string(got) != want {
			t.Errorf("%s: %s %v, want %s", c.template, got, err, want)
		}
	}
	tpl, err := Parse(`["token:{env.TOKEN}",{env.N|int}]`, nil)
	if err != nil {
		t.Fatal(err)
	}
	call, _ := tpl.Encode("a", Values{})
	if got, err := tpl.Fill(call, false, nil); err != nil || !strings.Contains(string(got), `["token:{env.TOKEN}","{env.N|int}"]`) {
		t.Errorf("without values: %s %v", got, err)
	}
}

func TestUnsendableConfiguredValuesAreErrors(t *testing.T) { // R14
	for _, c := range []struct {
		template string
		xml      bool
	}{{`[{env.TOKEN|int}]`, false}, {`[{env.TOKEN|int}]`, true}, {`[{env.BAD}]`, false}, {`[{env.BAD}]`, true}, {`[{env.NUL}]`, true}} {
		tpl, err := Parse(c.template, nil)
		if err != nil {
			t.Fatal(err)
		}
		encode := tpl.Encode
		if c.xml {
			encode = tpl.EncodeXML
		}
		call, err := encode("a", Values{})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := tpl.Fill(call, c.xml, fillIn); err == nil || strings.Contains(err.Error(), "s3") {
			t.Errorf("%s: %s %v", c.template, got, err)
		}
	}
	tpl, _ := Parse(`[{env.N}]`, nil)
	other, _ := Parse(`[{env.TOKEN}]`, nil)
	call, _ := other.Encode("a", Values{})
	for _, call := range []string{string(call), "{}", "\x00", "\x00\x00\x00", strings.Repeat(string(call), 2)} {
		if got, err := tpl.Fill([]byte(call), false, fillIn); !errors.Is(err, errFill) {
			t.Errorf("a call of another template: %s %v", got, err)
		}
	}
}

func TestQuotedPlaceholdersAreRefused(t *testing.T) { // R14
	for _, text := range []string{
		`["{id}"]`, `["{env.A} {id}"]`, `["{query.q}"]`, `["{body.x}"]`, `["{body}"]`, `["{http.request.header.X}"]`, `["{vars.x}"]`, `["{env.}"]`,
		`[{http.request.header.X}]`, `[{qeury.start}]`, `[{env}]`, `[{env.}]`, `{"{env.A}":1}`, `{env.A}`, `"{env.A}"`, `["{env.A}\x"]`,
	} {
		if _, err := Parse(text, []string{"id"}); err == nil {
			t.Errorf("%s is a template", text)
		}
	}
}

// Whatever a client sends, the call is what it would be with that value as a JSON string, and no
// placeholder in it is filled in.
func FuzzClientsCannotWritePlaceholders(f *testing.F) {
	tpl, err := Parse(`["token:{env.TOKEN}",{id},{body.x},{body}]`, []string{"id"})
	if err != nil {
		f.Fatal(err)
	}
	mark := string(tpl.Configured()[0].mark())
	for _, text := range []string{"{env.TOKEN}", mark, strings.Trim(mark, "\x00"), `"\u0000`, "\x00", `\`, `","x`, "token:{file./etc/passwd}", "</string>"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		quoted, _ := json.Marshal(text)
		body, _ := json.Marshal(map[string]string{"x": text, text: "1"})
		v := request(text, "", string(body))
		call, err := tpl.Encode("a", v)
		if err != nil {
			return
		}
		filled, err := tpl.Fill(call, false, fillIn)
		var got struct{ Params []json.RawMessage }
		if err != nil || json.Unmarshal(filled, &got) != nil || len(got.Params) != 4 {
			t.Fatalf("%s %v", filled, err)
		}
		var sent, want string
		_ = json.Unmarshal(got.Params[1], &sent)
		_ = json.Unmarshal(quoted, &want)
		if sent != want || string(got.Params[3]) != string(body) {
			t.Errorf("%q became %q, in %s", text, sent, filled)
		}
		if call, err = tpl.EncodeXML("a", v); err != nil {
			return // XML has no control characters
		}
		filled, err = tpl.Fill(call, true, fillIn)
		if n := strings.Count(string(filled), "cr\\&#233;"); err != nil || n > 1 && !strings.Contains(text, "cr") {
			t.Errorf("%q: %s %v", text, filled, err)
		}
	})
}

func TestSecretsInResultsAreMasked(t *testing.T) { // R14
	secrets := []string{"token:s3cr3t/x", "s3cr3t/x", "s3cr3t/x-and-more"}
	for result, want := range map[string]string{
		`{"a":"s3cr3t/x","b":1.0}`:                      `{"a":"***","b":1.0}`,
		`["got token:s3cr3t/x ","s3cr3t\/x"]`:           `["got *** ","***"]`,
		`{"s3cr3t/x":[ "\u00733cr3t/x" , "\\s3cr3t" ]}`: `{"***":[ "***" , "\\s3cr3t" ]}`,
		`{"a":"x\"s3cr3t/x\\"}`:                         `{"a":"x\"***\\"}`,
		`{"a":"s3cr3t","n":12345678901234567890}`:       `{"a":"s3cr3t","n":12345678901234567890}`,
		`["\u00fc\"",""]`:                               `["\u00fc\"",""]`,
		`17`:                                            `17`,
		`["is s3cr3t/x-and-more"]`:                      `["is ***"]`,
	} {
		if got := Mask(json.RawMessage(result), secrets); string(got) != want {
			t.Errorf("%s: %s, want %s", result, got, want)
		}
		if got := Mask(json.RawMessage(result), nil); string(got) != result {
			t.Errorf("%s: %s", result, got)
		}
	}
}
