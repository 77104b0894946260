package rpc

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
)

// request are the values of a request for /articles/{id}.
func request(path, query, body string) Values {
	var members map[string]json.RawMessage
	_ = json.Unmarshal([]byte(body), &members) // nil where there is no body
	v := Values{
		Text: func(p Place, name string) (string, bool) {
			if p == Path {
				return path, true
			}
			return query, query != "" && name == "q"
		},
		Member: func(name string) json.RawMessage { return members[name] },
	}
	if body != "" {
		v.Whole = json.RawMessage(body)
	}
	return v
}

func TestPlaceholdersBecomeValues(t *testing.T) {
	for _, c := range []struct{ template, path, query, body, want string }{
		{``, "7", "", "", ``},
		{`[]`, "7", "", "", `[]`},
		{`{ }`, "7", "", "", `{}`},
		{`[{id}]`, `7`, "", "", `["7"]`},
		{`[{id|int}, true, null, 1.50, "<x>"]`, "-7", "", "", `[-7,true,null,1.50,"<x>"]`},
		{`[{id}]`, `"],"method":"drop`, "", "", `["\"],\"method\":\"drop"]`},
		{`{"a":{id},"b":{query.q},"c":{query.r}}`, "7", "x", "", `{"a":"7","b":"x"}`},
		{`[{query.q|int},{query.r}]`, "7", "3", "", `[3,null]`},
		{`{body}`, "7", "", `{"x":1,"y":[{"z":null}]}`, `{"x":1,"y":[{"z":null}]}`},
		{`[{id},{body}]`, "7", "", "", `["7",{}]`},
		{`[{id},{body.x},{body.y}]`, "7", "", `{"x":12345678901234567890}`, `["7",12345678901234567890,null]`},
		{`{"a":{body.y},"b":{"c":{body.x},"d":{body.z}}}`, "7", "", `{"x":{"a":1}}`, `{"b":{"c":{"a":1}}}`},
		{`{"null":{body.x}}`, "7", "", `{"x":null}`, `{"null":null}`},
	} {
		tpl, err := Parse(c.template, []string{"id"})
		if err != nil {
			t.Fatal(c.template, err)
		}
		want := `{"jsonrpc":"2.0","method":"a.b","params":` + c.want + `,"id":1}`
		if c.want == "" {
			want = `{"jsonrpc":"2.0","method":"a.b","id":1}`
		}
		if got, err := tpl.Encode("a.b", request(c.path, c.query, c.body)); err != nil || string(got) != want {
			t.Errorf("%s: %s %v, want %s", c.template, got, err, want)
		}
	}
}

func TestValuesThatFitNoCall(t *testing.T) {
	for _, c := range []struct {
		template, path string
		partial        bool
	}{
		{`[{id|int}]`, "7a", false}, {`[{id|int}]`, "07", false}, {`[{id|int}]`, "1e3", false}, {`[{id|int}]`, "-0", false},
		{`{"a":{id|int}}`, "1234567890123456789", false}, {`[{id},{body.x}]`, "7", true},
	} {
		tpl, err := Parse(c.template, []string{"id"})
		if err != nil {
			t.Fatal(err)
		}
		v := request(c.path, "", "{}")
		v.Partial = c.partial
		var bad *ValueError
		if got, err := tpl.Encode("a", v); !errors.As(err, &bad) {
			t.Errorf("%s with %s: %s %v", c.template, c.path, got, err)
		}
	}
}

func TestInvalidTemplatesAreRefused(t *testing.T) {
	for _, text := range []string{
		`{id}`, `{query.q}`, `7`, `"x"`, `[`, `[{id}`, `[{id}] [`, `[{aid}]`, `["{id}"]`, `["x {id} y"]`, `{{id}:1}`, `{"a":1,"a":2}`, `["\u00000"]`, "[\"\x00\"]",
		`[{body|int}]`, `[{query}]`, `[{id.x}]`, `{"{id}":1}`, `[01]`, `[{id},]`, strings.Repeat("[", 40) + strings.Repeat("]", 40), `["` + strings.Repeat("a", maxTemplate) + `"]`,
	} {
		if _, err := Parse(text, []string{"id"}); err == nil {
			t.Errorf("%.60s is a template", text)
		}
	}
	for _, method := range []string{"", "rpc.x", "a b", `a"`, "7", "[{id}]", strings.Repeat("a", 300)} {
		if CheckMethod(method) == nil {
			t.Errorf("%s is a method", method)
		}
	}
}

func TestAnswers(t *testing.T) {
	long := strings.Repeat("ü", maxFault)
	for _, c := range []struct {
		answer, result string
		status         int // of a fault
		code, message  string
	}{
		{`{"jsonrpc":"2.0","result":{"a":1.0},"id":1}`, `{"a":1.0}`, 0, "", ""},
		{`{"result":null,"id":1}`, `null`, 0, "", ""},
		{`{"result":7,"error":null,"id":1}`, `7`, 0, "", ""},
		{`{"result":1,"result":2,"id":1}`, `2`, 0, "", ""},
		{`{"error":{"code":-32601,"message":"Method not found"},"id":1}`, "", http.StatusBadGateway, "-32601", "Method not found"},
		{`{"error":{"code":-32700,"message":"x"},"id":null}`, "", http.StatusBadGateway, "-32700", "x"},
		{`{"error":{"code":-32600,"message":"x"},"id":1}`, "", http.StatusBadGateway, "-32600", "x"},
		{`{"error":{"code":-32603,"message":"x"},"id":1}`, "", http.StatusBadGateway, "-32603", "x"},
		{`{"error":{"code":-32602,"message":"x"},"id":1}`, "", 422, "-32602", "x"},
		{`{"error":{"code":404,"message":"No such article","data":{"x":1}},"id":1,"result":null}`, "", 422, "404", "No such article"},
		{`{"error":{"code":"x","message":7},"id":1}`, "", 422, "", "7"},
		{`{"error":{"code":"-32601","message":"m"},"id":1}`, "", 502, "-32601", "m"},
		{`{"error":{"code":"a b","message":{"text":"m"}},"id":1}`, "", 422, "", ""},
		{`{"error":{"code":1.5,"message":null},"id":1}`, "", 422, "", ""},
		{`{"error":{"code":12345678901234567890123,"message":"x"},"id":1}`, "", 422, "", "x"},
		{`{"error":{"code":01,"message":"x"},"id":1}`, "", 0, "", ""},
		{`{"error":{"code":"01","message":"x"},"id":1}`, "", 422, "", "x"},
		{`{"error":["a"],"id":1}`, "", 422, "", ""},
		{`{"error":false,"result":{"a":1},"id":1}`, `{"a":1}`, 0, "", ""},
		{`{"error":"","result":7,"id":1}`, `7`, 0, "", ""},
		{`{"error":[],"result":"x","id":1}`, `"x"`, 0, "", ""},
		{`{"error":{},"result":[],"id":1}`, `[]`, 0, "", ""},
		{`{"error":0,"result":false,"id":1}`, `false`, 0, "", ""},
		{`{"error":false,"result":null,"id":1}`, "", 422, "", ""},
		{`{"error":true,"result":1,"id":1}`, "", 0, "", ""},
		{`{"error":{"code":0},"result":1,"id":1}`, "", 0, "", ""},
		{`{"error":"no","id":1}`, "", 422, "", "no"},
		{`{"error":{"message":"` + long + `","data":"` + long + `"},"id":1}`, "", 422, "", long[:maxFault] + "…"},
		{`{"result":{},"id":2}`, "", 0, "", ""},
		{`{"result":{},"id":"1"}`, "", 0, "", ""},
		{`{"result":{},"id":null}`, "", 0, "", ""},
		{`{"result":{}}`, "", 0, "", ""},
		{`{"error":{"code":1,"message":"x"}}`, "", 0, "", ""},
		{`{"error":{"code":1,"message":"x"},"id":2}`, "", 0, "", ""},
		{`{"result":1,"error":{"code":1},"id":1}`, "", 0, "", ""},
		{`{"RESULT":1,"id":1}`, "", 0, "", ""},
		{`{"id":1}`, "", 0, "", ""},
		{`[{"result":1,"id":1}]`, "", 0, "", ""},
		{`{"result":1,"id":1}}`, "", 0, "", ""},
		{`null`, "", 0, "", ""},
		{``, "", 0, "", ""},
	} {
		result, fault, err := Decode([]byte(c.answer))
		switch {
		case c.status != 0:
			if err != nil || fault == nil || fault.status() != c.status || fault.Code != c.code || fault.message != c.message || len(fault.Data) > maxFault {
				t.Errorf("%.80s: %v %v", c.answer, fault, err)
			} else if !json.Valid(fault.Document()) {
				t.Errorf("%s is not JSON", fault.Document())
			}
		case c.result == "":
			if !errors.Is(err, errNoAnswer) {
				t.Errorf("%s: %s %v %v", c.answer, result, fault, err)
			}
		case string(result) != c.result || fault != nil || err != nil:
			t.Errorf("%s: %s %v %v, want %s", c.answer, result, fault, err, c.result)
		}
	}
	for in, want := range map[string]string{`null`: `{}`, `7`: `{"result":7}`, `"x"`: `{"result":"x"}`, `[1]`: `[1]`, `{"a":1}`: `{"a":1}`} {
		if got := string(Result(json.RawMessage(in))); got != want {
			t.Errorf("%s: %s", in, got)
		}
	}
}

// FuzzCall: whatever the values are, a call has the members, the places and the constants of its
// template, and each value is the one JSON value that was given.
func FuzzCall(f *testing.F) {
	tpl, err := Parse(`{"a":[{id},"fix",{query.q}],"b":{body.x},"c":{body}}`, []string{"id"})
	if err != nil {
		f.Fatal(err)
	}
	f.Add("7", "x", `{"x":1}`)
	f.Add(`"],"method":"drop`, `\`, `{"x":{"method":"drop"},"y":[]}`)
	f.Add("\x000", "\u2028</script>", `{}`)
	f.Fuzz(func(t *testing.T, path, query, body string) {
		var object map[string]json.RawMessage
		if json.Unmarshal([]byte(body), &object) != nil || object == nil {
			body = "{}"
		}
		got, err := tpl.Encode("m", request(path, query, body))
		if err != nil {
			t.Fatal(err)
		}
		var call struct {
			JSONRPC, Method string
			ID              int
			Params          map[string]json.RawMessage
		}
		d := json.NewDecoder(strings.NewReader(string(got)))
		d.DisallowUnknownFields()
		if err := d.Decode(&call); err != nil || d.More() || call.Method != "m" || call.JSONRPC != "2.0" || call.ID != 1 {
			t.Fatalf("%s %v", got, err)
		}
		var list []*string
		if err := json.Unmarshal(call.Params["a"], &list); err != nil || len(list) != 3 || list[0] == nil || *list[0] != strings.ToValidUTF8(path, "\ufffd") && !strings.Contains(*list[0], "\ufffd") || *list[1] != "fix" {
			t.Fatalf("%s %v", call.Params["a"], err)
		}
		_, has := object["x"]
		if _, sent := call.Params["b"]; sent != has && len(object) > 0 || len(call.Params) > 3 || call.Params["c"] == nil {
			t.Fatalf("%s", got)
		}
	})
}
