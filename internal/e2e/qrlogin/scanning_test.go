package qrlogin

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
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
	s := prepare(t)
	s.Begin(t, caddyfile)
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
	start(t).portal.browse(t, "framed", unasked, "SHOTS="+harness.Pictures(t, "scanning"))
}

func TestTheFrameWorksWithoutJavaScript(t *testing.T) { // U01
	start(t).portal.browse(t, "framedWithoutScript", unasked, "SHOTS="+harness.Pictures(t, "scanning"))
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

func TestEveryPageOfTwoDevicesIsAccessibleAndFitsInEveryLook(t *testing.T) {
	for _, look := range []string{"en light desktop", "en dark phone", "zh light phone", "zh dark desktop"} {
		t.Run(look, func(t *testing.T) {
			dir, s := harness.Pictures(t, "scanning"), start(t)
			s.portal.browse(t, "looks "+look, s.portal.device, "SHOTS="+dir)
			if found, err := filepath.Glob(filepath.Join(dir, "*-"+strings.ReplaceAll(look, " ", "-")+".png")); err != nil || len(found) != 21 {
				t.Errorf("%d pictures, %v", len(found), err)
			}
		})
	}
}
