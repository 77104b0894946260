package envelope

import (
	"io"
	"strings"
	"testing"
)

func TestRulesLocateErrorFields(t *testing.T) {
	const js, page, plain = "application/json", "text/html", "text/plain"
	code := From{Kind: JSON, Code: "/err/no", Message: "/err/text", Field: "/err/at"}
	second := From{Kind: JSON, Message: "/why/0"}
	generic := enveloped("not_found", Lookup(404).Message, "")
	for _, c := range []struct {
		name, media, body string
		rules             []From
		expose            bool
		status            int
		want              string
	}{
		{"all three", js, `{"err":{"no":"no_such_title","text":"t","at":"title"},"message":"m"}`, []From{code}, false, 404, enveloped("no_such_title", "t", "title")},
		{"a code that is none of ours", js, `{"err":{"no":"E-42","text":"t"}}`, []From{code}, false, 404, enveloped("not_found", "t", "")},
		{"a number as code", js, `{"err":{"no":42,"text":"t"}}`, []From{code}, false, 404, enveloped("not_found", "t", "")},
		{"a number as the only thing", js, `{"err":{"no":42}}`, []From{code}, false, 404, enveloped("not_found", Lookup(404).Message+" (42)", "")},
		{"a code that begins with a digit", js, `{"err":{"no":"9a","text":"t"}}`, []From{code}, false, 404, enveloped("not_found", "t", "")},
		{"capitals", js, `{"err":{"no":"No_title","text":"t"}}`, []From{code}, false, 404, enveloped("not_found", "t", "")},
		{"a code of 65", js, `{"err":{"no":"` + strings.Repeat("a", 65) + `","text":"t"}}`, []From{code}, false, 404, enveloped("not_found", "t", "")},
		{"a field makes a parameter invalid", js, `{"err":{"text":"t","at":"title"}}`, []From{code}, false, 400, enveloped("invalid_parameter", "t", "title")},
		{"members called after fields", js, `{"err":{"text":"t","at":{"title":"too short","state":"unknown"}}}`, []From{code}, false, 400, enveloped("invalid_parameter", "t", "title")},
		{"the first of them, not of the alphabet", js, `{"x":[1,{"a":[]}],"err":{"no":1,"text":"t","at":{"title":{"a":1},"a":2}}}`, []From{code}, false, 400, enveloped("invalid_parameter", "t", "title")},
		{"a list of fields", js, `{"err":{"text":"t","at":["title","state"]}}`, []From{code}, false, 400, enveloped("invalid_parameter", "t", "title")},
		{"an object of no fields", js, `{"err":{"text":"t","at":{}}}`, []From{code}, false, 400, enveloped("bad_request", "t", "")},
		{"a list of no fields", js, `{"err":{"text":"t","at":[]}}`, []From{code}, false, 400, enveloped("bad_request", "t", "")},
		{"a list of objects", js, `{"err":{"text":"t","at":[{"title":1}]}}`, []From{code}, false, 400, enveloped("bad_request", "t", "")},
		{"an object in a list", js, `{"errs":[{"text":"u"},{"text":"t","at":{"title":1}}]}`, []From{{Kind: JSON, Message: "/errs/1/text", Field: "/errs/1/at"}}, false, 400, enveloped("invalid_parameter", "t", "title")},
		{"members called after fields, behind a notice", page, "<b>Notice</b> {x}\n" + `{"err":{"text":"t","at":{"title":1}}}`, []From{code}, false, 400, enveloped("invalid_parameter", "t", "title")},
		{"a member that is no field's name", js, `{"err":{"text":"t","at":{"/var/www/a":1}}}`, []From{code}, false, 400, enveloped("bad_request", "t", "")},
		{"a member with too long a name", js, `{"err":{"text":"t","at":{"` + strings.Repeat("x", maxField+1) + `":1}}}`, []From{code}, false, 400, enveloped("bad_request", "t", "")},
		{"an object that was cut", js, `{"err":{"text":"t","at":{"title":"` + strings.Repeat("x", maxBody), []From{code}, false, 400, enveloped("invalid_parameter", "t", "title")},
		{"nothing there", js, `{"message":"m"}`, []From{code}, false, 404, generic},
		{"the second rule", js, `{"message":"m","why":["w"]}`, []From{code, second}, false, 404, enveloped("not_found", "w", "")},
		{"the usual places", js, `{"message":"m","why":["w"]}`, []From{code, {Kind: JSON}}, false, 404, enveloped("not_found", "m", "")},
		{"not a text", js, `{"err":{"text":{"a":1},"no":true}}`, []From{code}, false, 404, generic},
		{"the last of repeated ones", js, `{"err":{"text":"a"},"err":{"text":"b"}}`, []From{code}, false, 404, enveloped("not_found", "b", "")},
		{"a body that was cut", js, `{"err":{"text":"t"},"rest":"` + strings.Repeat("x", maxBody), []From{code}, false, 404, enveloped("not_found", "t", "")},
		{"a message that is too long", js, `{"err":{"text":"` + strings.Repeat("x", 5000) + `"}}`, []From{code}, false, 404, generic},
		{"5xx", js, `{"err":{"no":"index_broken","text":"t","at":"title"}}`, []From{code}, false, 503, enveloped("index_broken", Lookup(503).Message, "")},
		{"5xx, exposed", js, `{"err":{"no":"index_broken","text":"t","at":"title"}}`, []From{code}, true, 503, enveloped("index_broken", "t", "title")},
		{"a trace, exposed", js, `{"err":{"no":"x","text":"Traceback (most recent call last)","at":"/var/www/a"}}`, []From{code}, true, 500, enveloped("x", Lookup(500).Message, "")},
		{"in our form already", js, `{"error":{"code":"c","message":"m","field":null}}`, []From{code}, false, 404, `{"error":{"code":"c","message":"m","field":null}}`},
		{"nearly in our form", js, `{"error":{"code":"400","message":"m","target":"title","trace":1}}`, []From{{Kind: JSON, Code: "/error/code", Message: "/error/message", Field: "/error/target"}}, false, 400, enveloped("invalid_parameter", "m", "title")},
		{"in our form without the field", js, `{"error":{"code":"400","message":"m"},"why":["w"]}`, []From{second}, false, 404, enveloped("not_found", "w", "")},
		{"nearly in our form, and no rule reads it", js, `{"error":{"code":"c","message":"m","trace":1}}`, []From{code}, false, 404, enveloped("c", "m", "")},
		{"the same, 5xx", js, `{"error":{"code":"c","message":"m","trace":1}}`, []From{code}, false, 500, enveloped("c", Lookup(500).Message, "")},
		{"a rule that reads a code in capitals, 5xx", js, `{"error":{"code":"c","message":"m","no":"E1"}}`, []From{{Kind: JSON, Code: "/error/no"}}, false, 500, enveloped("upstream_error", Lookup(500).Message, "")},
		{"behind a notice", page, "<b>Notice</b>\n" + `{"err":{"text":"t"}}`, []From{code}, false, 404, enveloped("not_found", "t", "")},
		{"HTML that is not declared", page, "<html><title>Lost</title>", []From{code}, false, 404, generic},
		{"HTML that is", page, "<html><title>Lost</title>", []From{code, {Kind: HTML}}, false, 404, enveloped("not_found", "Lost", "")},
		{"JSON that is not declared", js, `{"message":"m"}`, []From{{Kind: HTML}}, false, 404, generic},
		{"plain text that is not declared", plain, `no such title`, []From{code}, false, 404, generic},
	} {
		t.Run(c.name, func(t *testing.T) {
			conf := prepared(t, &Config{From: c.rules, Expose: c.expose})
			if rec := through(t, conf, "GET", answer(c.status, map[string]string{"Content-Type": c.media}, c.body)); rec.Body.String() != c.want || rec.Code != c.status {
				t.Errorf("%d %s\nwant %s", rec.Code, rec.Body, c.want)
			}
		})
	}
}

func TestRuleCodeTakesPrecedenceOverTheUpstreams(t *testing.T) {
	c := prepared(t, &Config{
		From:     []From{{Kind: JSON, Code: "/code", Message: "/message"}},
		FailWhen: []FailWhen{{Pointer: "/ok", Op: "==", Values: []string{"false"}, Status: 409, Code: "refused"}},
	})
	if rec := through(t, c, "GET", answer(200, nil, `{"ok":false,"code":"taken","message":"m"}`)); rec.Body.String() != enveloped("refused", "m", "") || rec.Code != 409 {
		t.Error(rec.Code, rec.Body)
	}
}

func TestUpstreamAuthFailureIsNotTheClients(t *testing.T) {
	c := prepared(t, &Config{UpstreamAuth: true, FailWhen: []FailWhen{{Pointer: "/code", Op: "==", Values: []string{"40001"}, Status: 401}}})
	if rec := through(t, c, "GET", answer(200, nil, `{"code":40001,"msg":"bad session"}`)); rec.Code != 502 || !strings.Contains(rec.Body.String(), UpstreamAuthFailed) {
		t.Error(rec.Code, rec.Body)
	}
}

func TestUnpreparedRulesAreApplied(t *testing.T) {
	if rec := through(t, oldAPI(), "GET", answer(200, nil, refused)); rec.Code != 422 {
		t.Error(rec.Code, rec.Body)
	}
}

func TestConditions(t *testing.T) {
	for _, c := range []struct {
		op     string
		values string // separated by spaces
		holds  string // values of /x that fulfil it, separated by spaces
		not    string
	}{
		{"==", "0", `0 "0" 0.0 -0 0e5`, `1 "" false null [] {} "00" "0x0" [0]`},
		{"==", "false", `false "false"`, `true 0 "False" null`},
		{"==", "null", `null "null"`, `0 false ""`},
		{"==", "ok 1", `"ok" 1 1.0 "1"`, `"1ok" true "oK"`},
		{"==", "9007199254740993", `9007199254740993 "9007199254740993"`, `9007199254740992 9007199254740993.0`},
		{"!=", "0", `1 false null [] {} "" "` + strings.Repeat("x", 5000) + `"`, `0 "0" 0.0`},
		{"!=", "ok 200", `"OK" 201 {}`, `"ok" 200 "200"`},
		{"<", "1", `0 -5 0.5 "0"`, `1 2 "x" "" null false [] {} "0x0" 1e999`},
		{"<=", "1", `1 0 "1.0"`, `1.5 "abc" true`},
		{">", "-1.5e2", `-149 0 "7"`, `-150 -151 "-1e9" null`},
		{">=", "400", `400 4e2 500 "400"`, `399.9 "04000" "400px"`},
		{"empty", "", `null false "" [] {}`, `0 true "0" [0] [[]] {"a":{}}`},
		{"exists", "", `0 null "" [] {} "` + strings.Repeat("x", 5000) + `"`, ``},
	} {
		rule := FailWhen{Pointer: "/x", Op: c.op, Values: strings.Fields(c.values), Status: 400}
		conf := prepared(t, &Config{FailWhen: []FailWhen{rule}})
		judge := func(body string) verdict {
			e := conf.dialect.plan.New(io.Discard)
			defer e.Release()
			if _, err := e.Write([]byte(body)); err != nil {
				t.Fatal(body, err)
			}
			w := &watch{d: conf.dialect, editor: e, header: -1}
			if before := w.judge(false); before == fails || strings.HasPrefix(body, `{"x"`) {
				return before
			}
			return w.judge(e.Close() == nil)
		}
		for _, x := range strings.Fields(c.holds) {
			if judge(`{"x":`+x+`,`) != fails {
				t.Errorf("%.40s %s %s does not hold", x, c.op, c.values)
			}
		}
		for _, x := range strings.Fields(c.not) {
			if judge(`{"x":`+x+`,`) != passes {
				t.Errorf("%s %s %s holds", x, c.op, c.values)
			}
		}
		if judge(`{}`) != passes || judge(`{"y":1,`) != open {
			t.Errorf("%s: without the member", c.op)
		}
	}
	missing := prepared(t, &Config{FailWhen: []FailWhen{{Pointer: "/x", Op: "missing", Status: 502}}})
	for body, status := range map[string]int{`{}`: 502, `{"x":null}`: 200, `[1]`: 502, `{"y":1`: 200, `no`: 200, ``: 200} {
		if rec := through(t, missing, "GET", answer(200, nil, body)); rec.Code != status {
			t.Errorf("%s: %d", body, rec.Code)
		}
	}
}

func TestInvalidRulesNameTheFault(t *testing.T) {
	long := strings.Repeat("x", maxValue+1)
	ok := FailWhen{Pointer: "/a", Op: "==", Values: []string{"1"}, Status: 400, Code: "a_1"}
	change := func(f func(*FailWhen)) FailWhen { r := ok; f(&r); return r }
	for _, c := range []struct {
		err  error
		want string
	}{
		{From{}.Check(), "unexpected '', expected json or html"},
		{From{Kind: Text}.Check(), "unexpected 'text', expected json or html"},
		{From{Kind: JSON, Message: "m"}.Check(), "from json: invalid JSON Pointer 'm', expected"},
		{From{Kind: HTML, Field: "/f"}.Check(), "from html: unexpected '/f', expected no pointers"},
		{change(func(r *FailWhen) { r.Pointer = "a" }).Check(), "fail_when: invalid JSON Pointer 'a', expected"},
		{change(func(r *FailWhen) { r.Op = "=~" }).Check(), "unexpected operator '=~', expected one of =="},
		{change(func(r *FailWhen) { r.Values = nil }).Check(), "expected a value after =="},
		{change(func(r *FailWhen) { r.Values = []string{long} }).Check(), "expected at most 1024"},
		{change(func(r *FailWhen) { r.Op = "exists" }).Check(), "unexpected value '1' after exists"},
		{change(func(r *FailWhen) { r.Op, r.Values = "<", []string{"1", "2"} }).Check(), "expected one number after <"},
		{change(func(r *FailWhen) { r.Op, r.Values = "<", []string{"0x1"} }).Check(), "invalid value '0x1' after <, expected a number"},
		{change(func(r *FailWhen) { r.Status = 399 }).Check(), "invalid status '399', expected one from 400 to 599"},
		{change(func(r *FailWhen) { r.Status = 600 }).Check(), "invalid status '600'"},
		{change(func(r *FailWhen) { r.Code = "a-b" }).Check(), "invalid code 'a-b', expected lower case"},
		{(&Config{From: []From{{}}}).Prepare(), "expected json or html"},
		{(&Config{FailWhen: []FailWhen{{}}}).Prepare(), "unexpected operator ''"},
	} {
		if c.err == nil || !strings.Contains(c.err.Error(), c.want) {
			t.Errorf("%v, want %s", c.err, c.want)
		}
	}
	if err := ok.Check(); err != nil {
		t.Error(err)
	}
}
