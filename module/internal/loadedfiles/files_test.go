package loadedfiles

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestChangedFilesAreFound(t *testing.T) {
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	for _, name := range []string{"keys", "first", "a & b", "removed"} {
		write(t, path(name), "old")
	}
	files := make(Files)
	files.Add(path("keys"))
	err := files.AddPlaceholders(map[string]any{
		"secrets": []string{"{file." + path("first") + "}", "{env.X}", "a literal"},
		"store":   json.RawMessage(`{"url":"redis://:{file.` + path("a & b") + `}@host/0","password":"{file.` + path("removed") + `}"}`),
		"later":   "{file." + path("later") + "}",
	})
	if err != nil || len(files) != 5 {
		t.Fatalf("%v: %v", files, err)
	}
	if changed := files.Changed(); len(changed) != 0 {
		t.Errorf("nothing has changed: %q", changed)
	}
	write(t, path("first"), "old") // rewritten, not changed
	for _, name := range []string{"keys", "a & b", "later"} {
		write(t, path(name), "new")
	}
	if err := os.Remove(path("removed")); err != nil {
		t.Fatal(err)
	}
	want := []string{path("a & b"), path("keys"), path("later"), path("removed")}
	if changed := files.Changed(); !slices.Equal(changed, want) {
		t.Errorf("%q, want %q", changed, want)
	}
}

// A pipe or a device has no content that could be compared, and opening one may wait.
func TestOnlyRegularFilesAreRead(t *testing.T) {
	files := make(Files)
	files.Add(os.DevNull)
	files.Add(t.TempDir())
	if changed := files.Changed(); len(changed) != 0 {
		t.Errorf("%q", changed)
	}
}
