package currentlog_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"
	_ "github.com/caddyserver/caddy/v2/modules/standard"
	"go.uber.org/zap"

	"github.com/gatehouse/gatehouse/module/currentlog"
)

// load loads a configuration that writes the lines of a module to a file of its own.
func load(t *testing.T, file, module string) {
	t.Helper()
	config := `{"admin":{"disabled":true,"config":{"persist":false}},"logging":{"logs":{"own":{"writer":{"output":"file","filename":"` + file +
		`"},"encoder":{"format":"json"},"level":"INFO","include":["` + module + `"]},"default":{"level":"PANIC"}}}}`
	if err := caddy.Load([]byte(config), true); err != nil {
		t.Fatal(err)
	}
}

func TestLoggerFollowsTheConfiguration(t *testing.T) {
	t.Cleanup(func() {
		if err := caddy.Stop(); err != nil {
			t.Error(err)
		}
	})
	dir := t.TempDir()
	text := func(file string) string {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	log := currentlog.Logger("gatehouse.stores.test").With(zap.String("file", "a.db"))
	structured := currentlog.Slog("gatehouse.stores.test").With("file", "b.db")
	first, second, other := filepath.Join(dir, "1.log"), filepath.Join(dir, "2.log"), filepath.Join(dir, "3.log")
	load(t, first, "gatehouse.stores.test")
	log.Info("one")
	structured.Info("two")
	log.Debug("not at this level")
	load(t, second, "gatehouse.stores")
	log.Info("three")
	structured.Warn("four")
	load(t, other, "gatehouse.stores.other")
	log.Info("five")
	if got := text(first); !strings.Contains(got, `"logger":"gatehouse.stores.test","msg":"one","file":"a.db"`) || !strings.Contains(got, `"msg":"two","file":"b.db"`) ||
		strings.Count(got, "\n") != 2 {
		t.Errorf("the first configuration's log: %s", got)
	}
	if got := text(second); !strings.Contains(got, "three") || !strings.Contains(got, "four") || strings.Count(got, "\n") != 2 {
		t.Errorf("the second configuration's log: %s", got)
	}
	if got := text(other); got != "" {
		t.Errorf("the log of another module: %s", got)
	}
}
