package caddyfile_test

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2/caddyconfig"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
)

var (
	// A Caddyfile or a part of one in a page, which may stand in a list.
	snippet = regexp.MustCompile("(?ms)^( *)```caddyfile\n(.*?)^ *```")
	// The scopes that a part needs to have declared.
	scopesNamed = regexp.MustCompile(`(?m)\b(?:scopes?|oauth_scope) ([^\n{]*)`)
	ownScope    = regexp.MustCompile(`^[a-z]+(:[a-z]+)?$`)
	blanks      = regexp.MustCompile(`(\S) +`)
)

// adapted returns the JSON of a Caddyfile, or its error.
func adapted(file, text string) (string, error) {
	config, _, err := caddyconfig.GetAdapter("caddyfile").Adapt([]byte(text), map[string]any{"filename": file})
	return sourceLine.ReplaceAllString(strings.ReplaceAll(string(config), `"source":"`, `"source": "`), ""), err
}

// wholes are the Caddyfiles that a snippet may be a part of.
func wholes(part string) []string {
	if !slices.ContainsFunc(strings.Split(strings.Trim(part, "\n"), "\n"), func(l string) bool { return l != "" && l[0] != '\t' }) {
		part = regexp.MustCompile(`(?m)^\t`).ReplaceAllString(part, "")
	}
	var scopes string
	for _, m := range scopesNamed.FindAllStringSubmatch(part, -1) {
		for _, name := range strings.FieldsFunc(m[1], func(r rune) bool { return r == ' ' || r == ',' }) {
			builtIn := slices.Contains([]string{"openid", "profile", "email", "phone", "address", "offline_access"}, name)
			if line := "\t\tscope " + name + " Text\n"; ownScope.MatchString(name) && !builtIn && !strings.Contains(scopes, line) {
				scopes += line
			}
		}
	}
	in := func(depth int) string {
		return regexp.MustCompile(`(?m)^(.)`).ReplaceAllString(part, strings.Repeat("\t", depth)+"$1")
	}
	const issuer = "{\n\tgatehouse {\n\t\tissuer https://id.example.com\n"
	const site = "\t}\n}\n\napi.example.com {\n"
	return []string{
		part,
		strings.Replace(part, "\tgatehouse {\n", "\tgatehouse {\n\t\tissuer https://id.example.com\n", 1),
		issuer + scopes + "\t}\n}\n\n" + part,
		issuer + scopes + site + in(1) + "}\n",
		issuer + in(2) + "\t}\n}\n",
		issuer + scopes + in(2) + "\t}\n}\n",
		issuer + scopes + site + "\tapi_rest {\n\t\tto legacy:80\n" + in(2) + "\t}\n}\n",
		issuer + scopes + site + "\tapi_rest {\n\t\tto legacy:80\n\t\tresource things {\n" + in(3) + "\t\t}\n\t}\n}\n",
	}
}

// roundTrip formats a Caddyfile and expects the same configuration. Pages may align columns; otherwise each
// is written as `caddy fmt` writes it.
func roundTrip(t *testing.T, name, file, text string, aligned bool) {
	t.Helper()
	before, err := adapted(file, text)
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return
	}
	formatted := caddyfile.Format([]byte(text))
	if after, err := adapted(file, string(formatted)); err != nil || after != before {
		t.Errorf("%s: formatted it becomes %v %s, and was %s", name, err, after, before)
	}
	if again := caddyfile.Format(formatted); !bytes.Equal(again, formatted) {
		t.Errorf("%s: formatted twice it is\n%s", name, again)
	}
	want := text
	if aligned {
		want = blanks.ReplaceAllString(text, "$1 ")
		formatted = blanks.ReplaceAll(formatted, []byte("$1 "))
	}
	if string(formatted) != want {
		t.Errorf("%s is not formatted: expected\n%s", name, formatted)
	}
}

// Each Caddyfile in a page of the repository adapts, by itself or as the part of one that it shows, and
// `caddy fmt` changes nothing of its meaning.
func TestSnippetsOfPagesAdapt(t *testing.T) {
	found := 0
	err := filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && (entry.Name() == "node_modules" || strings.HasPrefix(entry.Name(), ".") && path != "..") {
			return filepath.SkipDir
		}
		if filepath.Ext(path) != ".md" {
			return nil
		}
		page, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, m := range snippet.FindAllSubmatchIndex(page, -1) {
			found++
			indent, part := string(page[m[2]:m[3]]), string(page[m[4]:m[5]])
			if indent != "" {
				part = regexp.MustCompile(`(?m)^`+indent).ReplaceAllString(part, "")
			}
			name := path + ":" + lineOf(page[:m[4]])
			all := wholes(part)
			whole := slices.IndexFunc(all, func(text string) bool { _, err := adapted("Caddyfile", text); return err == nil })
			if whole < 0 {
				_, err := adapted("Caddyfile", part)
				t.Errorf("%s: %v, and it is no part of a Caddyfile either", name, err)
				continue
			}
			roundTrip(t, name, "Caddyfile", all[whole], true)
		}
		return nil
	})
	if err != nil || found < 60 {
		t.Errorf("%d snippets: %v", found, err)
	}
}

func lineOf(before []byte) string { return strconv.Itoa(bytes.Count(before, []byte("\n"))) }

func TestExamplesAreFormattedAndAdapt(t *testing.T) {
	files, err := filepath.Glob("../examples/*/Caddyfile")
	if err != nil || len(files) < 10 {
		t.Fatalf("%d examples: %v", len(files), err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		roundTrip(t, file, file, string(text), false)
	}
}
