package qrlogin

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

func unasked(string) string { return "" }

func TestScanAndConfirmSignsTheFirstBrowserIn(t *testing.T) { // B17, B21, B22, B32
	start(t).portal.browse(t, "scanAndConfirm", unasked)
}

func TestDenialAndWrongNumberSignNobodyIn(t *testing.T) {
	start(t).portal.browse(t, "deny", unasked)
}

func TestQRCodeBelongsToItsFirstScanner(t *testing.T) { // B18, B19
	start(t).portal.browse(t, "secondScanner", unasked)
}

func TestEverythingWorksWithoutJavaScript(t *testing.T) { // U01
	start(t).portal.browse(t, "withoutScript", unasked)
}

func TestQRCodeCanBeTypedInstead(t *testing.T) {
	start(t).portal.browse(t, "typed", unasked)
}

func TestPhoneUsersFollowTheLink(t *testing.T) {
	start(t).portal.browse(t, "onOneDevice", unasked)
}

func TestSignInSurvivesReloads(t *testing.T) { // B30
	s := prepare(t)
	s.Start(t, caddyfile)
	s.portal.browse(t, "reload", func(string) string {
		s.Load(t, caddyfile+"# "+t.Name()+"\n")
		return s.portal.issuer
	})
}

func TestScreenReadersHearEachStateOnce(t *testing.T) {
	start(t).portal.browse(t, "announced", unasked)
}

func TestDeviceIsConfirmedByUserCodeInABrowser(t *testing.T) {
	s := start(t)
	s.portal.browse(t, "device", s.portal.device)
}

func TestSecondClickOfADoubleClickElsewhereConfirmsNothing(t *testing.T) {
	for name, style := range map[string]string{
		"built-in style":      "",
		"without animations":  "*, ::before, ::after { animation: none !important }",
		"reduced animations":  "*, ::before, ::after { animation-duration: .01ms !important; animation-iteration-count: 1 !important }",
		"animated of its own": "form button[type=submit]:hover:hover { animation: fade 1ms } @keyframes fade { from { opacity: 0 } }",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, config := prepare(t), caddyfile+sites
			if style != "" {
				pages := t.TempDir()
				harness.FailOn(t, os.WriteFile(filepath.Join(pages, "style.css"), []byte(style), 0o600))
				config = strings.Replace(config, "\tgatehouse {\n", "\tgatehouse {\n\t\tpages {\n\t\t\ttemplates "+pages+"\n\t\t}\n", 1)
			}
			s.Run(t, config)
			s.portal.browse(t, "doubleClick", s.portal.device)
		})
	}
}

func TestBothPagesWorkWithTheKeyboardAlone(t *testing.T) {
	start(t).portal.browse(t, "keyboard", unasked)
}

func TestQRCodeWorksInAFrameOfTheSite(t *testing.T) {
	start(t).portal.browse(t, "framed", unasked, "SHOTS="+harness.Pictures(t, "scanning"))
}

func TestFrameWorksWithoutJavaScript(t *testing.T) { // U01
	start(t).portal.browse(t, "framedWithoutScript", unasked, "SHOTS="+harness.Pictures(t, "scanning"))
}

func TestOtherSitesCannotFrameCodeOrConfirmPages(t *testing.T) {
	start(t).portal.browse(t, "framedElsewhere", unasked)
}

func TestScanPageSurvivesABadNetwork(t *testing.T) {
	start(t).portal.browse(t, "patience", unasked)
}

func TestHiddenPageDoesNotPoll(t *testing.T) {
	start(t).portal.browse(t, "asleep", unasked)
}

func TestEveryDevicePageIsAccessibleInEveryTheme(t *testing.T) {
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
