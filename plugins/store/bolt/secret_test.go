package bolt

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/gatehouse/gatehouse/module/store"
)

func TestSecretIsCreatedOnceOutsideTheDatabase(t *testing.T) {
	b := open(t, Options{})
	first, err := b.Secret(t.Context())
	if err != nil || len(first) < 32 {
		t.Fatalf("Secret has %d bytes, %v", len(first), err)
	}
	first[0] ^= 1 // a caller's copy is its own
	second, err := b.Secret(t.Context())
	if err != nil || bytes.Equal(first, second) {
		t.Fatalf("the caller changed the kept secret, or %v", err)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Secret(t.Context()); err == nil {
		t.Error("a closed store gives its secret")
	}
	again := open(t, Options{Path: b.handle.path})
	if got, err := again.Secret(t.Context()); err != nil || !bytes.Equal(got, second) {
		t.Fatalf("another secret after reopening, or %v", err)
	}
	file, err := os.ReadFile(b.handle.path)
	if err != nil || bytes.Contains(file, second) {
		t.Fatalf("the database holds the secret, or %v", err)
	}
}

func TestDamagedSecretIsRefusedAndNotReplaced(t *testing.T) {
	for name, content := range map[string]string{
		"empty":    "",
		"short":    strings.Repeat("s", 31),
		"newlines": strings.Repeat("\n", 64),
		"no text":  strings.Repeat("s", maxSecret+1),
	} {
		b := open(t, Options{})
		if err := os.WriteFile(b.keeper.path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := b.Secret(t.Context())
		if err == nil || !strings.Contains(err.Error(), b.keeper.path) || strings.Contains(err.Error(), "sss") {
			t.Errorf("%s: %v, want an error that names the file and not what is in it", name, err)
		}
		if left, err := os.ReadFile(b.keeper.path); err != nil || string(left) != content {
			t.Errorf("%s: the file became %q, %v", name, left, err)
		}
	}
}

func TestSecretToleratesNewlineAndCrashRemnants(t *testing.T) {
	b := open(t, Options{})
	want := strings.Repeat("s", 32)
	if err := os.WriteFile(b.keeper.path, []byte(want+"\r\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := b.Secret(t.Context()); err != nil || string(got) != want {
		t.Errorf("Secret = %q, %v", got, err)
	}
	crashed := open(t, Options{})
	if err := os.WriteFile(crashed.keeper.path+".new", []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := crashed.Secret(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(crashed.keeper.path + ".new"); err == nil {
		t.Error("what the crash left is still there")
	}
}

func TestLostSecretIsLoggedAsAWarning(t *testing.T) {
	core, logs := observer.New(zap.WarnLevel)
	b := open(t, Options{Logger: zap.New(core)})
	if _, err := b.Create(t.Context(), store.Record{Key: store.Key{Kind: "k", ID: "a"}}); err != nil {
		t.Fatal(err)
	}
	got, err := b.Secret(t.Context())
	if err != nil || logs.Len() != 1 {
		t.Fatalf("%d warnings, %v", logs.Len(), err)
	}
	for _, f := range logs.All()[0].Context {
		if strings.Contains(f.String, string(got)) {
			t.Error("the log holds the secret")
		}
	}
}
