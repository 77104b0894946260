package scanning

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func unasked(string) string { return "" }

func TestWhoScansAndConfirmsLetsTheFirstBrowserIn(t *testing.T) { // B17, B21, B22, B32
	start(t).portal.browse(t, "scanAndConfirm", unasked)
}

func TestANoAndAWrongNumberLetNobodyIn(t *testing.T) {
	start(t).portal.browse(t, "deny", unasked)
}

func TestACodeIsOfWhoScansItFirst(t *testing.T) { // B18, B19
	start(t).portal.browse(t, "secondScanner", unasked)
}

func TestAllWorksWithoutJavaScript(t *testing.T) { // U01
	start(t).portal.browse(t, "withoutScript", unasked)
}

func TestACodeCanBeTypedInsteadOfScanned(t *testing.T) {
	start(t).portal.browse(t, "typed", unasked)
}

func TestWhoIsOnThePhoneFollowsTheLink(t *testing.T) {
	start(t).portal.browse(t, "onOneDevice", unasked)
}

func TestASignInOutlivesReloads(t *testing.T) { // B30
	s := start(t)
	s.portal.browse(t, "reload", func(string) string {
		s.Load(t, caddyfile+"# "+t.Name()+"\n")
		return s.portal.issuer
	})
}

func TestScreenReadersHearEachStateOnce(t *testing.T) {
	start(t).portal.browse(t, "announced", unasked)
}

func TestADeviceIsLetInByItsLettersInABrowser(t *testing.T) {
	s := start(t)
	s.portal.browse(t, "device", s.portal.device)
}

func TestBothPagesAreUsedWithTheKeyboardAlone(t *testing.T) {
	start(t).portal.browse(t, "keyboard", unasked)
}

func TestTheCodeStandsInAFrameOfTheSite(t *testing.T) {
	start(t).portal.browse(t, "framed", unasked, "SHOTS="+pictures(t))
}

func TestTheFrameWorksWithoutJavaScript(t *testing.T) { // U01
	start(t).portal.browse(t, "framedWithoutScript", unasked, "SHOTS="+pictures(t))
}

func TestNoOtherSiteFramesTheCodeAndNobodyThePageThatConfirms(t *testing.T) {
	start(t).portal.browse(t, "framedElsewhere", unasked)
}

func TestThePageOutlastsABadNetworkAndAsksNoMoreThanItMust(t *testing.T) {
	start(t).portal.browse(t, "patience", unasked)
}

func TestAPageThatNobodyLooksAtAsksNothing(t *testing.T) {
	start(t).portal.browse(t, "asleep", unasked)
}

// pictures is a directory for them, one of its own within the one that
// GATEHOUSE_SCREENSHOTS names.
func pictures(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if kept := os.Getenv("GATEHOUSE_SCREENSHOTS"); kept != "" {
		var err error
		if dir, err = filepath.Abs(filepath.Join(kept, "scanning")); err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestEveryPageOfTwoDevicesIsAccessibleAndFitsInEveryLook(t *testing.T) {
	for _, look := range []string{"en light desktop", "en dark phone", "zh light phone", "zh dark desktop"} {
		t.Run(look, func(t *testing.T) {
			dir, s := pictures(t), start(t)
			s.portal.browse(t, "looks "+look, s.portal.device, "SHOTS="+dir)
			if found, err := filepath.Glob(filepath.Join(dir, "*-"+strings.ReplaceAll(look, " ", "-")+".png")); err != nil || len(found) != 21 {
				t.Errorf("%d pictures, %v", len(found), err)
			}
		})
	}
}
