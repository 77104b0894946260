package page

import (
	"github.com/gatehouse/gatehouse/module/internal/webui"
	"github.com/gatehouse/gatehouse/module/oauth"
)

// builtinTexts say what the scopes mean that need no declaration.
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

// View returns a scope as pages show it: with the configured text, else a built-in one, in the
// page's language or English; without a text where there is none.
func (t ScopeTexts) View(name, lang string) webui.ScopeView {
	texts := t[name]
	if len(texts) == 0 {
		texts = builtinTexts[name]
	}
	text := texts[lang]
	if text == "" {
		text = texts["en"]
	}
	return webui.ScopeView{Name: name, Text: text}
}
