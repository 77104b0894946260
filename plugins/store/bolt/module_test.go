package bolt

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
)

func parse(input string) (*Bolt, error) {
	b := new(Bolt)
	return b, b.UnmarshalCaddyfile(caddyfile.NewTestDispenser(input))
}

func TestCaddyfile(t *testing.T) {
	for _, c := range []struct {
		input string
		want  Bolt
		fault string
	}{
		{input: "bolt"},
		{input: "bolt /var/state.db", want: Bolt{Path: "/var/state.db"}},
		{input: "bolt {\n group_commit 2ms\n}", want: Bolt{GroupCommit: caddy.Duration(2 * time.Millisecond)}},
		{input: "bolt {env.STATE} {\n group_commit 1s\n}", want: Bolt{Path: "{env.STATE}", GroupCommit: caddy.Duration(time.Second)}},
		{input: "bolt a b", fault: "argument"},
		{input: `bolt ""`, fault: "empty"},
		{input: "bolt {\n fsync off\n}", fault: "unrecognized word 'fsync'"},
		{input: "bolt {\n group_commit\n}", fault: "expected one value"},
		{input: "bolt {\n group_commit soon\n}", fault: "group_commit"},
		{input: "bolt {\n group_commit 1s 2s\n}", fault: "expected one value"},
	} {
		got, err := parse(c.input)
		switch {
		case c.fault != "" && (err == nil || !strings.Contains(err.Error(), c.fault)):
			t.Errorf("%q: %v, want an error with %q", c.input, err, c.fault)
		case c.fault == "" && (err != nil || *got != c.want):
			t.Errorf("%q: %+v, %v, want %+v", c.input, got, err, c.want)
		}
	}
}

func TestProvisionExpandsPlaceholdersAndTouchesNoFile(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("BOLT_TEST_DIR", dir)
	t.Setenv("XDG_DATA_HOME", filepath.Join(dir, "data"))
	for _, c := range []struct{ path, want string }{
		{"{env.BOLT_TEST_DIR}/new/state.db", filepath.Join(dir, "new", "state.db")},
		{"", filepath.Join(caddy.AppDataDir(), "gatehouse", "state.db")},
	} {
		b := &Bolt{Path: c.path}
		if err := b.Provision(caddy.Context{}); err != nil {
			t.Fatal(err)
		}
		if b.resolved != c.want {
			t.Errorf("path %q became %s, want %s", c.path, b.resolved, c.want)
		}
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 0 {
		t.Errorf("Provision left %v, %v", entries, err)
	}
}

func TestProvisionRefusesUnsupportedSettings(t *testing.T) {
	for fault, b := range map[string]*Bolt{
		"group_commit is -1s":       {GroupCommit: caddy.Duration(-time.Second)},
		"group_commit is 2s":        {GroupCommit: caddy.Duration(2 * time.Second)},
		"env.BOLT_TEST_DOES_NOT_BE": {Path: "{env.BOLT_TEST_DOES_NOT_BE}/state.db"},
	} {
		if err := b.Provision(caddy.Context{}); err == nil || !strings.Contains(err.Error(), fault) {
			t.Errorf("Provision: %v, want an error with %q", err, fault)
		}
	}
}

func TestOneFileHasOneIdentity(t *testing.T) {
	dir := t.TempDir()
	if err := os.Symlink(dir, filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	provisioned := func(path string, wait time.Duration) *Bolt {
		b := &Bolt{Path: path, GroupCommit: caddy.Duration(wait)}
		if err := b.Provision(caddy.Context{}); err != nil {
			t.Fatal(err)
		}
		return b
	}
	first := provisioned(filepath.Join(dir, "sub", "state.db"), 0)
	backend, err := first.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = backend.Close() }()
	for _, path := range []string{"sub/state.db", "./sub/../sub/state.db", "link/sub/state.db", filepath.Join(dir, "link", "sub", "state.db")} {
		if got := provisioned(path, time.Millisecond).Identity(); got != first.Identity() {
			t.Errorf("%s has the identity %v, want %v", path, got, first.Identity())
		}
	}
	if provisioned("sub/other.db", 0).Identity() == first.Identity() {
		t.Error("another file has the same identity")
	}
}

func TestOpenWithACancelledContextCreatesNoFile(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	b := &Bolt{Path: filepath.Join(t.TempDir(), "state.db")}
	if err := b.Provision(caddy.Context{}); err != nil {
		t.Fatal(err)
	}
	if backend, err := b.Open(ctx); !errors.Is(err, context.Canceled) || backend != nil {
		t.Fatalf("Open = %v, %v", backend, err)
	}
	if _, err := os.Stat(b.resolved); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("Stat: %v", err)
	}
}
