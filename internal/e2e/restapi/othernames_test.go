package restapi

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// guarded are resources and a job with members that clients must not write, or only some values of.
const guarded = `"upstream": $TO, "fixed": [{"name": "owner", "value": "me", "in": "body"}, {"name": "mode", "value": "safe"}], "jobs": [{"path": "imports", "upstream": "/import"}],
	"resources": [{"path": "things", "batch": ["title", "due"],
		"validate": [{"field": "approved", "readonly": true}, {"field": "/meta/role", "readonly": true}, {"field": "due", "format": "date"}, {"field": "price", "max": "9"}, {"field": "price.net"}],
		"values": {"state": {"open": "1"}}, "routes": [
			{"method": "POST", "path": "/things", "upstream": "/things", "as": "json", "members": [{"name": "/task/level", "value": "1"}]},
			{"method": "PUT", "path": "/things/{id}", "upstream": "/things", "as": "form", "members": [{"name": "/task/level", "value": "1"}]},
			{"method": "POST", "path": "/things/{id}/copy", "upstream": "/things", "as": "multipart", "members": [{"name": "/task/level", "value": "1"}]},
			{"method": "PATCH", "path": "/things/{id}", "upstream": "/things"}]},
		{"path": "plain"}, {"path": "calls", "routes": [{"method": "POST", "path": "/calls", "upstream": "/rpc", "rpc": {"method": "add", "params": "[{body}]"}}],
			"validate": [{"field": "/meta/role", "readonly": true}]}]`

// sent is a request with a body in JSON, and the field for which it is refused, "" for one that reaches the API.
type sent struct{ method, path, body, field string }

// checkSent sends requests, of which none that is refused may reach the API.
func checkSent(t *testing.T, rule string, all []sent) {
	t.Helper()
	u := harness.NewUpstream(t)
	u.Answer(says("application/json", `{"id":1}`))
	r := start(t, u.Addr, guarded)
	for _, c := range all {
		p := r.do("writer", c.method, c.path, c.body, "Content-Type", "application/json")
		refused := p.Status == http.StatusBadRequest && strings.Contains(p.Body, `"field":"`+c.field+`"`)
		if refused != (c.field != "") || refused != (len(u.Hits()) == 0) && !strings.HasPrefix(c.path, "/imports") {
			t.Errorf("%s %s %s %s: %d %s", rule, c.method, c.path, c.body, p.Status, p.Body)
		}
	}
}

// R11: Rails assigns approved(1i) to approved, behind the plain names.
func TestClientCannotWriteAMemberByRailsPartsOfIt(t *testing.T) {
	var all []sent
	for _, at := range [][2]string{{"POST", "/things"}, {"PUT", "/things/1"}, {"POST", "/things/1/copy"}, {"PATCH", "/things/1"}} {
		for _, name := range []string{"approved(1i)", "due(1)", "price(1i)", "state(1s)", "owner(1)", "mode(1)"} {
			all = append(all, sent{at[0], at[1], `{"` + name + `":1}`, name})
		}
		all = append(all, sent{at[0], at[1], `{"meta":{"role(1)":"admin"}}`, "/meta/role(1)"}, sent{at[0], at[1], `{"other(1i)":1}`, ""})
		if at[0] != "PATCH" {
			all = append(all, sent{at[0], at[1], `{"task(1)":1}`, "task(1)"})
		}
	}
	checkSent(t, "R11", append(all, []sent{
		{"POST", "/plain", `{"owner(1)":"x"}`, "owner(1)"},
		{"POST", "/plain", `{"article":{"owner(1)":"x"}}`, "/article/owner(1)"},
		{"POST", "/plain?" + url.QueryEscape("mode(1i)") + "=x", `{}`, "mode(1i)"},
		{"PATCH", "/things", `[{"id":1,"op":"replace","path":"/due(1i)","value":1}]`, "/0/path"},
		{"PATCH", "/plain", `[{"id":1,"op":"replace","path":"/owner(1i)","value":1}]`, "/0/value"},
		{"POST", "/imports", `{"owner(1i)":"x"}`, "owner(1i)"},
		{"POST", "/imports", `{"other(1i)":"x"}`, ""},
	}...))
}

// R11: to Mongoose and Icinga meta.role is the role inside meta.
func TestClientCannotWriteAMemberBehindDots(t *testing.T) {
	var all []sent
	for _, at := range [][2]string{{"POST", "/things"}, {"PUT", "/things/1"}, {"POST", "/things/1/copy"}, {"PATCH", "/things/1"}} {
		for _, name := range []string{"meta.role", "approved.x", "due.0", "state.x", "price.gross", "owner.x"} {
			all = append(all, sent{at[0], at[1], `{"` + name + `":1}`, name})
		}
		if at[0] != "PATCH" {
			all = append(all, sent{at[0], at[1], `{"task.level":2}`, "task.level"})
		}
		all = append(all, sent{at[0], at[1], `{"price.net":1,"other.role":1,"a":{"meta.role":1}}`, ""})
	}
	checkSent(t, "R11", append(all, []sent{
		{"POST", "/plain", `{"article":{"owner.x":"x"}}`, "/article/owner.x"},
		{"POST", "/calls", `{"meta.role":"x"}`, "meta.role"},
		{"POST", "/imports", `{"owner.x":"x"}`, "owner.x"},
		{"PATCH", "/plain", `[{"id":1,"op":"replace","path":"/owner.x","value":1}]`, "/0/value"},
	}...))
}

// R11: Symfony reads ap_proved as approved, and Objection Is_due as isDue.
func TestClientCannotWriteAMemberByOtherUnderscores(t *testing.T) {
	var all []sent
	for _, at := range [][2]string{{"POST", "/things"}, {"PUT", "/things/1"}, {"POST", "/things/1/copy"}, {"PATCH", "/things/1"}} {
		for _, name := range []string{"ap_proved", "Approved_", "_approved", "d-ue", "pr ice", "st__ate"} {
			all = append(all, sent{at[0], at[1], `{"` + name + `":1}`, name})
		}
		all = append(all, sent{at[0], at[1], `{"meta":{"ro_le":"x"}}`, "/meta/ro_le"}, sent{at[0], at[1], `{"me_ta":{"role":"x"}}`, "me_ta"}, sent{at[0], at[1], `{"ti_tle":1,"approved_by":1}`, ""})
	}
	checkSent(t, "R11", all)
}

// R11: Django's widgets write one value in several fields of a form, and Jetty and aiohttp read a form in the charset that
// a field of it names.
func TestFormHasNoFieldsThatChangeOthers(t *testing.T) {
	var all []sent
	for _, at := range [][2]string{{"PUT", "/things/1"}, {"POST", "/things/1/copy"}, {"PATCH", "/things/1"}} {
		for _, name := range []string{"approved_year", "due_month", "state_0", "owner_day", "task_0_1", "approved-clear", "_charset_"} {
			field := name
			if at[0] == "PATCH" {
				field = "" // JSON
			}
			all = append(all, sent{at[0], at[1], `{"` + name + `":"IBM037"}`, field})
		}
		all = append(all, sent{at[0], at[1], `{"title_0":1,"year":1,"price_x":1,"_charset_":"UTF-8"}`, ""})
	}
	checkSent(t, "R11", all)
	u := harness.NewUpstream(t)
	r := start(t, u.Addr, guarded)
	const form, parts = "application/x-www-form-urlencoded", "multipart/form-data; boundary=B"
	const part = "--B\r\nContent-Disposition: form-data; name=\"NAME\"\r\n\r\nIBM037\r\n--B--\r\n"
	for _, c := range []struct {
		media, body string
		status      int
	}{
		{form, "owner_year=1", 400},
		{form, "other_year=1", 202},
		{form, "_charset_=IBM037&a=1", 400},
		{form, "_charset_=iso-8859-1&a=1", 400},
		{form, "_charset_=utf-8&a=1", 202},
		{parts, strings.Replace(part, "NAME", "_charset_", 1), 400},
		{parts, strings.Replace(part, "NAME", "charset", 1), 202},
	} {
		if p := r.do("writer", "POST", "/imports", c.body, "Content-Type", c.media); p.Status != c.status {
			t.Errorf("R11 %s: %d %s, want %d", c.body, p.Status, p.Body, c.status)
		}
	}
}
