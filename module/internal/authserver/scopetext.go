package authserver

import "github.com/gatehouse/gatehouse/module/oauth"

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

// scopeText is the text of a scope for the consent page: the configured one, else a
// built-in one, in the page's language or English; "" for none.
func (s *signIn) scopeText(name, lang string) string {
	texts := builtinTexts[name]
	for _, scope := range s.Scopes {
		if scope.Name == name && len(scope.Text) > 0 {
			texts = scope.Text
		}
	}
	if text := texts[lang]; text != "" {
		return text
	}
	return texts["en"]
}
