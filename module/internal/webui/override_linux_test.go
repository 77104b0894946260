package webui

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestOverrideThatIsNoFileIsAnError(t *testing.T) {
	for kind, put := range map[string]func(path string) error{
		"a named pipe": func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"a folder":     func(path string) error { return os.Mkdir(path, 0o700) },
		"a device":     func(path string) error { return os.Symlink("/dev/tty", path) },
	} {
		for _, name := range []string{"login.html", "style.css", "en.json"} {
			d := dir(t)
			if err := put(filepath.Join(d, name)); err != nil {
				t.Fatal(err)
			}
			done := make(chan error, 1)
			go func() {
				_, err := New(Config{Templates: d})
				done <- err
			}()
			select {
			case err := <-done:
				if err == nil || !strings.Contains(err.Error(), filepath.Join(d, name)+": not a regular file") {
					t.Errorf("%s as %s: %v", name, kind, err)
				}
			case <-time.After(10 * time.Second):
				t.Errorf("%s as %s holds up the configuration", name, kind)
			}
		}
	}
}
