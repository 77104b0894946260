package page

import (
	"cmp"
	"net/url"
	"slices"
	"strings"

	"github.com/gatehouse/gatehouse/module/directory"
	"github.com/gatehouse/gatehouse/module/internal/webui"
	"github.com/gatehouse/gatehouse/module/oauth"
)

// DisplayName is the name that pages show beside the user name; "" if the directory has no other.
func DisplayName(user directory.User) string {
	for _, name := range []string{user.Name, user.Nickname} {
		if name = strings.TrimSpace(name); name != "" && !strings.EqualFold(name, user.Username) {
			return name
		}
	}
	return ""
}

// Destination is what pages show of a redirect URI: the host, or the scheme if it is a private-use scheme. The scheme alone
// decides which program gets such an address: com.evil://bank.example/cb never reaches bank.example.
func Destination(redirectURI string) string {
	u, err := url.Parse(redirectURI)
	switch {
	case err != nil:
		return ""
	case u.Scheme == "https", u.Scheme == "http":
		return u.Host
	}
	return u.Scheme + ":"
}

// Destinations lists the [Destination] of each redirect URI of a client, each once. All of them, because the client
// chooses their order: the first may be a host that it never uses.
func Destinations(redirectURIs []string) string {
	var all []string
	for _, uri := range redirectURIs {
		if to := Destination(uri); to != "" && !slices.Contains(all, to) {
			all = append(all, to)
		}
	}
	return strings.Join(all, ", ")
}

// UserCode formats a device's short code for reading and typing: in two halves.
func UserCode(code string) string {
	half := len(code) / 2
	return code[:half] + "-" + code[half:]
}

// builtinTexts describe the scopes that need no declaration.
var builtinTexts = map[string]map[string]string{
	"openid":          {"en": "Confirm who you are", "zh": "确认您的身份"},
	"profile":         {"en": "See your name and picture", "zh": "查看您的姓名和头像"},
	"email":           {"en": "See your e-mail address", "zh": "查看您的电子邮箱地址"},
	oauth.SNSLogin:    {"en": "Sign you in with your name and picture", "zh": "使用您的昵称和头像登录"},
	oauth.SNSUserinfo: {"en": "See your name and picture", "zh": "查看您的昵称和头像"},
	oauth.SNSBase:     {"en": "Recognise you when you come back", "zh": "在您再次访问时识别您"},
	"offline_access":  {"en": "Keep access while you are away", "zh": "在您离开后继续访问"},
}

// ScopeTexts are the configured texts of scopes: name -> language tag -> text.
type ScopeTexts map[string]map[string]string

// View returns a scope as pages show it: with the configured text, else a built-in one, in the page's language
// or in English; without a text if there is none.
func (t ScopeTexts) View(name, lang string) webui.ScopeView {
	texts := t[name]
	if len(texts) == 0 {
		texts = builtinTexts[name]
	}
	return webui.ScopeView{Name: name, Text: cmp.Or(texts[lang], texts["en"])}
}

// BrowserName returns the names of browser and operating system in a User-Agent, "" if unknown. It returns only
// names of the lists below, because the user must not be shown text that another browser sent.
func BrowserName(userAgent string) (browser, system string) {
	return findMark(userAgent, browserNames), findMark(userAgent, systemNames)
}

type nameMark struct{ mark, name string }

// The order matters: most browsers also send the names of those below them.
var browserNames = []nameMark{
	{"Edg/", "Edge"}, {"EdgA/", "Edge"}, {"EdgiOS/", "Edge"},
	{"OPR/", "Opera"}, {"OPT/", "Opera"}, {"SamsungBrowser/", "Samsung Internet"},
	{"Vivaldi/", "Vivaldi"}, {"YaBrowser/", "Yandex"}, {"MicroMessenger/", "WeChat"},
	{"UCBrowser/", "UC Browser"}, {"QQBrowser/", "QQ Browser"}, {"HuaweiBrowser/", "Huawei Browser"},
	{"Firefox/", "Firefox"}, {"FxiOS/", "Firefox"},
	{"CriOS/", "Chrome"}, {"HeadlessChrome/", "Chrome"}, {"Chrome/", "Chrome"}, {"Chromium/", "Chromium"},
	{"Safari/", "Safari"}, {"curl/", "curl"},
}

var systemNames = []nameMark{
	{"iPhone", "iOS"}, {"iPad", "iPadOS"}, {"HarmonyOS", "HarmonyOS"}, {"Android", "Android"},
	{"Windows", "Windows"}, {"CrOS", "ChromeOS"}, {"Macintosh", "macOS"}, {"Linux", "Linux"},
}

func findMark(userAgent string, marks []nameMark) string {
	for _, m := range marks {
		if strings.Contains(userAgent, m.mark) {
			return m.name
		}
	}
	return ""
}
