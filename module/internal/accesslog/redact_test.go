package accesslog

import (
	"net/http"
	"strings"
	"testing"
)

func TestLoggedAddressHidesSecrets(t *testing.T) {
	for raw, want := range map[string]string{
		"/authorize":                                            "/authorize",
		"/auth/.well-known/jwks.json":                           "/auth/.well-known/jwks.json",
		"/authorize?client_id=a&state=S3":                       "/authorize?client_id=a&state=REDACTED",
		"/authorize?scope=read%20write&x=1":                     "/authorize?scope=read%20write&REDACTED",
		"/authorize?S3":                                         "/authorize?REDACTED",
		"/authorize?S3=client_id":                               "/authorize?REDACTED",
		"/authorize?c%6fde=S3":                                  "/authorize?code=REDACTED",
		"/authorize?state":                                      "/authorize?state",
		"/authorize?state=S3;code=S3":                           "/authorize?state=REDACTED&code=REDACTED",
		"/authorize?%zz=S3":                                     "/authorize?REDACTED",
		"/authorize?CODE=S3":                                    "/authorize?REDACTED",
		"/authorize?client_id=" + strings.Repeat("S3", 200):     "/authorize?client_id=REDACTED",
		"/authorize?redirect_uri=https%3A%2F%2Fu%3AS3%40h%2Fcb": "/authorize?redirect_uri=REDACTED",
		"/authorize?redirect_uri=https%3A%2F%2Fh%2Fcb%3Fcode%3DS3%26x%3DS3%23S3": "/authorize?redirect_uri=https%3A%2F%2Fh%2Fcb%3Fcode%3DREDACTED%26REDACTED%23REDACTED",
		"/authorize?redirect_uri=com.example.app%3A%2Fcb":                        "/authorize?redirect_uri=com.example.app%3A%2Fcb",
		"/authorize?redirect_uri=javascript%3Aalert(S3)":                         "/authorize?redirect_uri=javascript%3AREDACTED",
		"/authorize%3Fcode=S3":                 "/REDACTED",
		"/authorize&code=S3":                   "/REDACTED",
		"/revoke/eyJhbGciOiJFUzI1NiJ9.S3S3":    "/revoke/REDACTED",
		"/register/ABCDEFGHIJKLMNOPQRSTUVWXYZ": "/register/REDACTED",
		"https://client.example/cb?code=S3&state=S3&iss=https%3A%2F%2Fid.example":         "https://client.example/cb?code=REDACTED&state=REDACTED&iss=https%3A%2F%2Fid.example",
		"https://client.example/cb#access_token=S3":                                       "https://client.example/cb#REDACTED",
		"https://client.example/cb?error=access_denied&error_description=S3":              "https://client.example/cb?error=access_denied&error_description=REDACTED",
		"com.example.app:/cb?code=S3":                                                     "com.example.app:/cb?code=REDACTED",
		"https://user:S3@client.example/cb":                                               "REDACTED",
		"/connect/qrconnect?appid=a&state=S3&scope=snsapi_login&login_type=jssdk&href=S3": "/connect/qrconnect?appid=a&state=REDACTED&scope=snsapi_login&login_type=jssdk&REDACTED",
		"/connect/qrcode/AbCdEfGhIjKlMnOpQrStUv":                                          "/connect/qrcode/REDACTED",
		"/auth/connect/qrcode/abcdefghijklmnopqrstuv":                                     "/auth/connect/qrcode/REDACTED",
		"/connect/qrcode/": "/connect/qrcode/",
		"/connect/l/qrconnect?uuid=S3&last=404&f=json&_=17": "/connect/l/qrconnect?uuid=REDACTED&last=404&f=json&REDACTED",
		"/connect/confirm?uuid=S3":                          "/connect/confirm?uuid=REDACTED",
		"/device?user_code=S3":                              "/device?user_code=REDACTED",
		"/sns/oauth2/access_token?appid=a&secret=S3&code=S3&grant_type=authorization_code": "/sns/oauth2/access_token?appid=a&secret=REDACTED&code=REDACTED&grant_type=authorization_code",
		"/sns/oauth2/refresh_token?appid=a&grant_type=refresh_token&refresh_token=S3":      "/sns/oauth2/refresh_token?appid=a&grant_type=refresh_token&refresh_token=REDACTED",
		"/sns/userinfo?access_token=S3&openid=S3&lang=en":                                  "/sns/userinfo?access_token=REDACTED&openid=REDACTED&lang=en",
		"/sns/userinfo?wx_code=S3&device_code=S3&unionid=S3&number=42":                     "/sns/userinfo?wx_code=REDACTED&device_code=REDACTED&unionid=REDACTED&number=REDACTED",
		"http://id.example/authorize?state=S3":                                             "http://id.example/authorize?state=REDACTED",
		"/" + strings.Repeat("a/", 200):                                                    "REDACTED",
		"/x?" + strings.Repeat("scope=a&", 40):                                             "/x?" + strings.Repeat("scope=a&", 32) + "REDACTED",
	} {
		got := redactURI(raw)
		if got != want {
			t.Errorf("%s: %s, want %s", raw, got, want)
		}
	}
}

func FuzzQueriesAreRedactedUnlessAllowed(f *testing.F) {
	for _, s := range []string{"/a?state=S3cr3tS3cr3tS3cr3tS3cr3t", "/a?b=1#S3cr3tS3cr3tS3cr3tS3cr3t", "https://h/S3cr3tS3cr3tS3cr3tS3cr3t", "?S3cr3tS3cr3tS3cr3tS3cr3t"} {
		f.Add(s)
	}
	const secret = "S3cr3tS3cr3tS3cr3tS3cr" // 22 characters, as our shortest
	f.Fuzz(func(t *testing.T, around string) {
		for _, name := range shownParameters {
			if strings.Contains(around, name) {
				return
			}
		}
		if strings.Contains(around, "://") || strings.Contains(around, "%") {
			return // a host may be anything
		}
		uri := around + "?" + secret + "&code=" + secret + "#" + secret
		if got := redactURI(uri); strings.Contains(got, secret) {
			t.Errorf("%s: %s", uri, got)
		}
	})
}

func TestOnlyKnownHeaderValuesAreLogged(t *testing.T) {
	got := redactHeader(http.Header{
		"User-Agent": {"curl"}, "Authorization": {"Basic S3"}, "Cookie": {"a=S3", "b=S3"}, "Referer": {"https://h/?code=S3"},
		"X-Api-Key": {"S3"}, "Location": {"https://h/cb?code=S3"},
	}, shownRequestHeaders)
	want := map[string]string{
		"User-Agent": "curl", "Authorization": redacted, "Cookie": redacted, "Referer": redacted, "X-Api-Key": redacted,
		"Location": "https://h/cb?code=REDACTED",
	}
	for name, value := range want {
		if len(got[name]) != 1 || got[name][0] != value {
			t.Errorf("%s: %v, want %s", name, got[name], value)
		}
	}
	for _, set := range []map[string]bool{shownRequestHeaders, shownResponseHeaders} {
		for name := range set {
			if name != http.CanonicalHeaderKey(name) {
				t.Errorf("%s is never found under this spelling", name)
			}
		}
	}
}
