package webui

import (
	"bytes"
	"crypto/sha256"
	_ "embed" // page and style
	"encoding/base64"
	"html/template"
	"net/http"

	"golang.org/x/text/language"
)

//go:embed api/page.html
var apiPage string

//go:embed api/page.css
var apiStyle string

var (
	apiTemplate = template.Must(template.New("api").Parse(apiPage))
	apiMatcher  = language.NewMatcher([]language.Tag{language.English, language.Chinese})
	apiHeaders  = func() http.Header {
		sum := sha256.Sum256([]byte(apiStyle))
		return securityHeaders("sha256-"+base64.StdEncoding.EncodeToString(sum[:]), "", false)
	}()
)

// apiTexts are the words of the page; what the document says stays as it is.
type apiTexts struct {
	Lang, Version, Source, Deprecated, Token, Public, Parameters, Name, In, Meaning, Body, Answers, Status, Schemas string
}

var apiLanguages = []apiTexts{
	{
		"en", "Version", "the description as JSON", "deprecated", "Needs a token with the scopes", "Needs no token", "Parameters", "Name", "In",
		"Meaning", "Body", "Answers", "Status", "Schemas",
	},
	{
		"zh", "版本", "JSON 格式的接口描述", "已弃用", "需要具有以下权限的令牌", "无需令牌", "参数", "名称", "位置", "含义", "请求体", "响应", "状态码", "数据结构",
	},
}

// API writes the page that shows a description of an API (OpenAPI 3.1), of which source is
// the address. It runs no script and loads nothing.
func API(w http.ResponseWriter, r *http.Request, document []byte, source string) error {
	v, err := readAPI(document)
	if err != nil {
		return err
	}
	_, at := language.MatchStrings(apiMatcher, r.Header.Get("Accept-Language"))
	v.T, v.Source = apiLanguages[at], source
	v.Style = template.HTML("<style>" + apiStyle + "</style>") //nolint:gosec // ours
	var body bytes.Buffer
	if err := apiTemplate.Execute(&body, v); err != nil {
		return err
	}
	w.Header().Set("Content-Language", v.T.Lang)
	w.Header().Add("Vary", "Accept-Language")
	content := body.Bytes()
	if r.Method == http.MethodHead {
		content = nil
	}
	send(w, http.StatusOK, apiHeaders, "text/html; charset=utf-8", content)
	return nil
}
