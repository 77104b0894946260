package teahouse

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/harness"
)

// GATEHOUSE_SCREENSHOTS names a directory to keep the pictures in.
func TestAVisitorSignsInWithAPhoneAndTheKeyboardAlone(t *testing.T) {
	s := start(t)
	dir := os.Getenv("GATEHOUSE_SCREENSHOTS")
	if dir == "" {
		dir = t.TempDir()
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	harness.Node(t, 2*time.Minute, "teahouse.js", append(s.Env, "SITE="+s.site, "ISSUER="+s.issuer, "SHOTS="+dir), func(string) string { return "" })
	if pictures, err := filepath.Glob(filepath.Join(dir, "teahouse-*.png")); err != nil || len(pictures) != 6 {
		t.Errorf("%d pictures, %v", len(pictures), err)
	}
}
