package oauth

import "testing"

func TestOriginFormMatchesWhatBrowsersSend(t *testing.T) {
	for origin, ok := range map[string]bool{
		"https://app.example": true, "http://localhost:3000": true, "https://app.example:8443": true,
		"": false, "*": false, "https://*.example": false, "https://app.example/": false, "https://app.example/path": false,
		"https://App.example": false, "https://app.example:443": false, "http://app.example:80": false,
		"app.example": false, "https://user@app.example": false, "null": false, "https://a b": false, "https://app.example?x": false,
	} {
		if err := CheckOrigin(origin); (err == nil) != ok {
			t.Errorf("%q: %v", origin, err)
		}
	}
}
