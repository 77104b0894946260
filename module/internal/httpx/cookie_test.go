package httpx

import "testing"

func TestOurCookiesAreRecognizedByNameAndPrefix(t *testing.T) {
	for name, want := range map[string]struct{ ours, resembles bool }{
		"gatehouse": {true, true}, "gatehouse-browser": {true, true}, "__Host-gatehouse": {true, true}, "__Host-gatehouse-frame": {true, true},
		"gatehouse-": {true, true}, "GATEHOUSE": {false, true}, "__host-Gatehouse-Frame": {false, true}, "__Secure-gatehouse": {false, true},
		"__Http-gatehouse": {false, true}, "__Host-Http-gatehouse-x": {false, true},
		"": {}, "gatehous": {}, "gatehouses": {}, "gatehouse_x": {}, "xgatehouse": {}, "__Host-": {}, "__Host-session": {},
		"__Host-__Host-gatehouse": {}, "PHPSESSID": {},
	} {
		if IsOurCookie(name) != want.ours || ResemblesOurCookie(name) != want.resembles {
			t.Errorf("%q: %v %v", name, !want.ours, !want.resembles)
		}
	}
}
