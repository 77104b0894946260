package variantb

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

func TestVisitorSignsInWithAPhoneAndTheKeyboardAlone(t *testing.T) {
	s, dir := start(t), harness.Pictures(t, "teahouse")
	harness.Node(t, 5*time.Minute, "teahouse.js", append(s.Env, "SITE="+s.site, "ISSUER="+s.issuer, "SHOTS="+dir), func(string) string { return "" })
	if pictures, err := filepath.Glob(filepath.Join(dir, "teahouse-*.png")); err != nil || len(pictures) != 6 {
		t.Errorf("%d pictures, %v", len(pictures), err)
	}
}
