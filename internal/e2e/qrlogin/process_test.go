package qrlogin

import (
	"os"
	"os/exec"
	"testing"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

func TestSignInSurvivesCaddyReload(t *testing.T) { // B30
	s := start(t)
	s.portal.browse(t, "reload", func(asked string) string {
		file := s.WriteFile(t, "Caddyfile", s.Text(caddyfile+"# "+asked+"\n"+sites))
		cmd := exec.Command(harness.Program(t), "reload", "--force", "--config", file, "--adapter", "caddyfile")
		cmd.Dir, cmd.Env = s.Dir, append(os.Environ(), "XDG_DATA_HOME="+s.Dir, "XDG_CONFIG_HOME="+s.Dir)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("caddy reload: %v\n%s", err, out)
		}
		return s.portal.issuer
	})
}
