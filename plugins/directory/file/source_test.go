package file

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/gatehouse/gatehouse/module/directory"
)

// loaded is a source as the host makes it from JSON: provisioned and validated.
func loaded(t *testing.T, config string) (directory.Source, error) {
	t.Helper()
	ctx, cancel := caddy.NewContext(caddy.Context{Context: context.Background()})
	t.Cleanup(cancel)
	m, err := ctx.LoadModuleByID("gatehouse.directories.file", json.RawMessage(config))
	if err != nil {
		return nil, err
	}
	return m.(directory.Source), nil
}

func quoted(t *testing.T, path string) string {
	t.Helper()
	text, err := json.Marshal(map[string]string{"path": path})
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestModuleOpensTheConfiguredFile(t *testing.T) {
	path := written(t, document(t, seed("1", "ann", "secret 1")))
	t.Setenv("GATEHOUSE_TEST_DIRECTORY", filepath.Dir(path))
	t.Chdir(filepath.Dir(path))
	var first any
	for _, form := range []string{path, "users.json", "./users.json", "{env.GATEHOUSE_TEST_DIRECTORY}/users.json"} {
		s, err := loaded(t, quoted(t, form))
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = s.Identity()
		}
		if s.Identity() != first {
			t.Errorf("%s has the identity %v, another form of it has %v", form, s.Identity(), first)
		}
		d, err := s.Open(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, ok, err := d.Authenticate(t.Context(), "ann", "secret 1"); !ok || err != nil {
			t.Errorf("%s: Authenticate = %t, %v", form, ok, err)
		}
	}
	other, err := loaded(t, quoted(t, written(t, document(t))))
	if err != nil || other.Identity() == first {
		t.Errorf("another file has the same identity (%v)", err)
	}
}

func TestConfigOrFileErrorFailsTheLoad(t *testing.T) {
	cases := map[string]struct{ config, want string }{
		"no path":               {`{}`, "required"},
		"an unset placeholder":  {`{"path": "{env.GATEHOUSE_TEST_UNSET}/users.json"}`, "env.GATEHOUSE_TEST_UNSET"},
		"an unknown option":     {`{"path": "users.json", "watch": true}`, "watch"},
		"a negative size":       {`{"path": "users.json", "max_size": -1}`, "expected a number of bytes above 0"},
		"a file above its size": {strings.Replace(quoted(t, written(t, document(t))), "}", `,"max_size":5}`, 1), "larger than max_size, 5 bytes: raise max_size"},
		"a missing file":        {quoted(t, filepath.Join(t.TempDir(), "users.json")), "no such file"},
		"a file with a mistake": {quoted(t, written(t, "{\"users\": [\n{\"id\": \"1\"}]}")), "users.json:2: users[0]: the username is missing"},
	}
	for name, c := range cases {
		if _, err := loaded(t, c.config); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

func TestOpenFailsForAFileGoneSinceValidation(t *testing.T) {
	path := written(t, document(t))
	s, err := loaded(t, quoted(t, path))
	if err != nil {
		t.Fatal(err)
	}
	write(t, path, "{")
	if d, err := s.Open(t.Context()); err == nil || d != nil {
		t.Errorf("opened a truncated file: %v, %v", d, err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if d, err := s.Open(t.Context()); err == nil || d != nil {
		t.Errorf("opened a missing file: %v, %v", d, err)
	}
}

func TestCaddyfileTakesExactlyOnePath(t *testing.T) {
	cases := map[string]struct{ input, path, err string }{
		"a path":              {"file users.json", "users.json", ""},
		"a placeholder":       {"file {env.HOME}/users.json", "{env.HOME}/users.json", ""},
		"no path":             {"file", "", "expected `file <path>`"},
		"two paths":           {"file a b", "", "expected `file <path>`"},
		"an empty path":       {`file ""`, "", "is empty"},
		"a size":              {"file users.json {\n max_size 64MiB\n}", "users.json", ""},
		"an unknown word":     {"file users.json {\n watch\n}", "", "unrecognized word 'watch' in the file directory, expected one of: max_size"},
		"no size":             {"file users.json {\n max_size\n}", "", "max_size"},
		"a size in words":     {"file users.json {\n max_size large\n}", "", "invalid size 'large', expected one such as 256MiB"},
		"two sizes":           {"file users.json {\n max_size 1MiB\n max_size 2MiB\n}", "", "max_size is given twice"},
		"a block and no path": {"file {\n watch\n}", "", "expected `file <path>`"},
	}
	for name, c := range cases {
		var s Source
		err := s.UnmarshalCaddyfile(caddyfile.NewTestDispenser(c.input))
		if c.err == "" && (err != nil || s.Path != c.path) {
			t.Errorf("%s: path %q, %v", name, s.Path, err)
		}
		if c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err) || !strings.Contains(err.Error(), "Testfile:")) {
			t.Errorf("%s: %v, want %q with file and line", name, err, c.err)
		}
	}
}

// What Validate has read is opened without reading it again, unless it has changed or was discarded.
func TestOpenDoesNotRereadAValidatedFile(t *testing.T) {
	text := document(t, seed("1", "ann", "secret 1"))
	other := document(t, seed("2", "bob", "secret 2"))
	path := written(t, text)
	for _, c := range []struct{ discard, change bool }{{false, false}, {true, false}, {false, true}} {
		write(t, path, text)
		s, err := loaded(t, quoted(t, path))
		if err != nil {
			t.Fatal(err)
		}
		source := s.(*Source)
		before := source.loaded
		before.settled, before.sum = true, [sha256.Size]byte{}
		if c.change {
			write(t, path+".new", other)
			if err := os.Rename(path+".new", path); err != nil {
				t.Fatal(err)
			}
		}
		if c.discard {
			source.Discard()
		}
		d, err := s.Open(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		o := d.(*dir)
		if (o.current == before) == c.discard {
			t.Errorf("%+v: what was validated is in use: %t", c, !c.discard)
		}
		if !c.change && !c.discard && o.sum != [sha256.Size]byte{} {
			t.Errorf("%+v: the file was read again", c)
		}
		if _, ok, err := d.Lookup(t.Context(), "2"); ok != c.change || err != nil {
			t.Errorf("%+v: the new user is known: %t, %v", c, ok, err)
		}
		_ = o.Close()
	}
}
