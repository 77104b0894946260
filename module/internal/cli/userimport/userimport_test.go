package userimport

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/module/internal/adminapi"
)

// lines reads a file and returns its users, and what was said of the lines that were refused.
func lines(t *testing.T, form Form, text string) (users []Line, refused []string, err error) {
	t.Helper()
	r, err := NewReader(strings.NewReader(text), form)
	if err != nil {
		return nil, nil, err
	}
	for {
		line, err := r.Read()
		var bad *LineError
		switch {
		case errors.Is(err, io.EOF):
			return users, refused, nil
		case errors.As(err, &bad):
			refused = append(refused, bad.Error())
		case err != nil:
			return users, refused, err
		default:
			users = append(users, line)
		}
	}
}

func TestCSVAndJSONLinesAreReadAlike(t *testing.T) {
	want := []Line{
		{2, adminapi.ImportedUser{
			ID: "1001", Username: "ann", PasswordHash: "$2b$x,y", Email: "ann@example.com", Locked: true,
			Claims: map[string]any{"groups": []any{"a", "b"}, "zip": "0123", "email_verified": true, "team": "press"},
		}},
		{4, adminapi.ImportedUser{Username: "bob", Password: "two\nlines"}},
	}
	const table = "\xef\xbb\xbfID,Username ,password_hash,email,locked,claims.groups,claims.zip,claims.email_verified,claims,password\r\n" +
		`1001,ann,"$2b$x,y",ann@example.com,TRUE,"[""a"",""b""]",0123,true,"{""team"":""press""}",` + "\r\n\r\n" +
		`,bob,,,,,,,,"two` + "\n" + `lines"`
	const objects = "\xef\xbb\xbf\n" +
		`{"id":"1001","username":"ann","password_hash":"$2b$x,y","email":"ann@example.com","locked":true,` +
		`"claims":{"groups":["a","b"],"zip":"0123","email_verified":true,"team":"press"}}` + "\r\n\n" +
		`{"username":"bob","password":"two\nlines"}`
	for form, text := range map[Form]string{CSV: table, JSONLines: objects} {
		users, refused, err := lines(t, form, text)
		if err != nil || len(refused) > 0 || !reflect.DeepEqual(users, want) {
			t.Errorf("%s: %+v, %v, %v", form, users, refused, err)
		}
	}
}

func TestInvalidUserIsRefusedByLine(t *testing.T) {
	long := strings.Repeat("x", maxLine)
	for form, c := range map[Form]struct{ text, want string }{
		CSV: {"username,locked,claims,claims.a\nann,,,\nhunter2\nhunter2,maybe,,\nhunter2,,[],\nhunter2,,,[1\nhunter2\xff,,,\nhunter2\"x,,,\nbob,,,\n",
			"line 3:  has 1 cells, expected 4|line 4: locked expected true or false|line 5: claims expected a JSON object|line 6: claims.a is no valid JSON|" +
				"line 7: username is not UTF-8|line 8:  is no valid CSV: bare \" in non-quoted-field"},
		JSONLines: {`{"username":"ann"}` + "\n" + `{"hunter2":1}` + "\n" + `{"username":7}` + "\n" + `{"claims":"hunter2"}` + "\n" + `{"username":"hunter2"` + "\n" +
			`[]` + "\n" + `{} {}` + "\n" + "{\"username\":\"hunter2\xff\"}\n" + `{"username":"` + long + "\"}\n" + `{"username":"bob"}`,
			"line 2:  has an unknown field; expected some of " + fields + "|line 3: username expected a text|line 4: claims expected a JSON object|" +
				"line 5:  is no JSON object|line 6:  is no JSON object|line 7:  is more than one JSON object|line 8:  is not UTF-8|line 9:  is longer than 65536 bytes"},
	} {
		users, refused, err := lines(t, form, c.text)
		if got := strings.Join(refused, "|"); err != nil || got != c.want {
			t.Errorf("%s: %v\n%s, want\n%s", form, err, got, c.want)
		}
		if len(users) != 2 || users[0].User.Username != "ann" || users[1].User.Username != "bob" {
			t.Errorf("%s: %+v", form, users)
		}
	}
}

func TestUnreadableImportFileIsNotQuoted(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"nothing":               {"", "empty"},
		"no header line":        {"ann,hunter2\n", "column 1 of the header line has an unknown name"},
		"a column twice":        {"username,email,EMAIL\n", "column 3 of the header line, email, is there twice"},
		"semicolons":            {"id;username;claims.hunter2\n", "separated by semicolons; expected commas"},
		"semicolons and quotes": {"\"id\";\"hunter2\"\n", "no CSV with commas"},
		"tabs":                  {"ID\tusername\n", "separated by tabs; expected commas"},
		"a password with a bar": {"hunter2|x\n", "column 1 of the header line has an unknown name"},
		"UTF-16":                {"\xff\xfei\x00d\x00,\x00u\x00", "the header line is not UTF-8"},
		"no username":           {"email\n", "no column username"},
		"a claim without name":  {"username,claims.\n", "column 2"},
		"a header without end":  {"username," + strings.Repeat("x", 2*maxLine), "longer than"},
		"a quote is not closed": {"username\nann\n\"" + strings.Repeat("hunter2\n", maxLine), "behind line 2 is longer than 65536 bytes: is a quote not closed?"},
	} {
		_, _, err := lines(t, CSV, c.text)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestImportFormatFollowsFlagOrName(t *testing.T) {
	for _, c := range []struct {
		input, name string
		want        Form
	}{{"", "a.csv", CSV}, {"", "a.CSV", CSV}, {"", "a.jsonl", JSONLines}, {"", "a.ndjson", JSONLines}, {"csv", "-", CSV}, {"jsonl", "a.csv", JSONLines}, {"", "-", ""}, {"", "a.json", ""}, {"text", "a.csv", ""}} {
		if form, err := FormOf(c.input, c.name); form != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%+v: %q, %v", c, form, err)
		}
	}
}

// gateway answers like one: it refuses bad, knows present, and creates others.
type gateway struct {
	requests [][]adminapi.ImportedUser
	most     int // users of a request that it has time for, 0 for all
	fail     error
}

func (g *gateway) send(_ context.Context, in adminapi.Import) (out adminapi.ImportResults, err error) {
	g.requests = append(g.requests, in.Users)
	if g.fail != nil {
		return out, g.fail
	}
	for i, u := range in.Users {
		if i == g.most && g.most > 0 {
			break
		}
		switch u.Username {
		case "bad":
			out.Results = append(out.Results, adminapi.ImportResult{Outcome: adminapi.ImportRefused, Field: "email", Reason: "no"})
		case "present":
			out.Results = append(out.Results, adminapi.ImportResult{Outcome: adminapi.ImportPresent})
		default:
			out.Results = append(out.Results, adminapi.ImportResult{Outcome: adminapi.ImportCreated})
		}
	}
	return out, nil
}

func (g *gateway) run(t *testing.T, ctx context.Context, text string) (Report, error) {
	t.Helper()
	r, err := NewReader(strings.NewReader(text), CSV)
	if err != nil {
		t.Fatal(err)
	}
	i := Importer{Send: g.send}
	return i.Run(ctx, r)
}

func TestImportReportCoversEveryLine(t *testing.T) {
	g := &gateway{most: 2}
	report, err := g.run(t, t.Context(), "id,username\n1,ann\n,bad\n,present\n,ANN\n1,carl\n,\xff\n,\n,\n,dora\n")
	want := Report{Created: 4, Present: 1, Refused: 4, Done: 10, Refusals: []Refusal{
		{3, "email", "no"}, {5, "username", "is the same as in line 2"}, {6, "id", "is the same as in line 2"}, {7, "username", "is not UTF-8"},
	}}
	if err != nil || !reflect.DeepEqual(report, want) {
		t.Errorf("%v\n%+v, want\n%+v", err, report, want)
	}
	if len(g.requests) != 3 { // two users of six at a time
		t.Errorf("%d requests", len(g.requests))
	}
}

func TestImportRequestsAreLimited(t *testing.T) {
	var text strings.Builder
	text.WriteString("username,name\n")
	for i := range 3 * adminapi.MaxImport {
		fmt.Fprintf(&text, "user%d,%s\n", i, strings.Repeat("<", i%400)) // six bytes each as JSON
	}
	fmt.Fprintf(&text, "long,%s\n", strings.Repeat("<", maxLine/3))
	g := new(gateway)
	report, err := g.run(t, t.Context(), text.String())
	if err != nil || report.Created != 3*adminapi.MaxImport || report.Refused != 1 {
		t.Errorf("%+v, %v", report, err)
	}
	for _, users := range g.requests {
		body, err := json.Marshal(adminapi.Import{DryRun: true, Update: true, Users: users})
		if err != nil || len(body) > adminapi.MaxBody || len(users) > adminapi.MaxImport {
			t.Errorf("%d users in %d bytes: %v", len(users), len(body), err)
		}
	}
	short := "username\n" + strings.Join(slices.Collect(maps.Keys(numbers(2*adminapi.MaxImport))), "\n")
	g = new(gateway)
	if _, err := g.run(t, t.Context(), short); err != nil || len(g.requests) != 2 {
		t.Errorf("%d requests, %v", len(g.requests), err)
	}
}

func numbers(n int) map[string]bool {
	out := make(map[string]bool)
	for i := range n {
		out[fmt.Sprint(i)] = true
	}
	return out
}

func TestImportReportIsLimited(t *testing.T) {
	report, err := new(gateway).run(t, t.Context(), "username,locked\n"+strings.Repeat("x,maybe\n", maxListed+500))
	if err != nil || report.Refused != maxListed+500 || len(report.Refusals) != maxListed {
		t.Errorf("%d refused, %d listed, %v", report.Refused, len(report.Refusals), err)
	}
}

func TestRememberedNamesAreLimited(t *testing.T) {
	s := newSeen()
	for i := range uint64(maxSeen) {
		s.lines[i] = 1
	}
	for range 2 {
		if _, line := s.before(Line{7, adminapi.ImportedUser{ID: "1", Username: "ann"}}); line != 0 || len(s.lines) > maxSeen+1 {
			t.Errorf("%d names and IDs", len(s.lines))
		}
	}
}

func TestFailedImportReportsItsProgress(t *testing.T) {
	text := "username\n" + strings.Join(slices.Sorted(maps.Keys(numbers(adminapi.MaxImport+1))), "\n")
	away := errors.New("away")
	for name, c := range map[string]struct {
		fail   bool
		want   error
		cancel bool
	}{"a failure": {true, away, false}, "an interruption": {false, nil, true}} {
		g := new(gateway)
		ctx, cancel := context.WithCancel(t.Context())
		r, err := NewReader(strings.NewReader(text), CSV)
		if err != nil {
			t.Fatal(err)
		}
		i := Importer{Send: func(ctx context.Context, in adminapi.Import) (adminapi.ImportResults, error) {
			if len(g.requests) == 1 && c.fail {
				g.fail = away
			}
			if c.cancel {
				cancel()
			}
			return g.send(ctx, in)
		}}
		report, err := i.Run(ctx, r)
		cancel()
		if err == nil || c.want != nil && !errors.Is(err, c.want) || report.Created != adminapi.MaxImport || report.Done != adminapi.MaxImport+1 {
			t.Errorf("%s: %+v, %v", name, report, err)
		}
	}
	silent := Importer{Send: func(context.Context, adminapi.Import) (adminapi.ImportResults, error) {
		return adminapi.ImportResults{}, nil
	}}
	r, err := NewReader(strings.NewReader(text), CSV)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := silent.Run(t.Context(), r); !errors.Is(err, errNoProgress) {
		t.Errorf("no results: %v", err)
	}
}

func FuzzUserFilesAreNeverQuoted(f *testing.F) {
	f.Add("username,password\nann,canary7\n")
	f.Add("{\"username\":\"ann\",\"claims\":{\"a\":\"canary7\"}}\n")
	f.Fuzz(func(t *testing.T, text string) {
		for _, form := range []Form{CSV, JSONLines} {
			_, refused, err := lines(t, form, strings.ReplaceAll(text, "ann", "canary7"))
			for _, said := range append(refused, fmt.Sprint(err)) {
				if strings.Contains(said, "canary7") && !strings.Contains(text, "claims.") {
					t.Fatal(said)
				}
			}
		}
	})
}
