package page

import "strings"

// BrowserName reads the names of a browser and of its system out of a User-Agent, "" for
// those it does not know. Only names of the lists below come out: what somebody else's browser sent
// is not shown to the user.
func BrowserName(userAgent string) (browser, system string) {
	return named(userAgent, browserNames), named(userAgent, systemNames)
}

type nameMark struct{ mark, name string }

// The order matters: most browsers call themselves by the names of those below too.
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

func named(userAgent string, marks []nameMark) string {
	for _, m := range marks {
		if strings.Contains(userAgent, m.mark) {
			return m.name
		}
	}
	return ""
}
