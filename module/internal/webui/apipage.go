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

// apiTexts are the texts of the page; the document's own texts are not translated.
type apiTexts struct {
	Lang, Version, Source, Deprecated, Token, Any, Public, Parameters, Name, Required, Meaning, Body, Answers, Status, Schemas, Places, Example, ReadOnly string
}

var apiLanguages = []apiTexts{
	{
		"en", "Version", "the description as JSON", "deprecated", "Needs a token with the scopes", "Needs a token", "Needs no token", "Parameters", "Name",
		"required", "Meaning", "Body", "Answers", "Status", "Schemas", "On this page", "Example", "read only",
	},
	{
		"zh-Hans", "版本", "JSON 格式的接口描述", "已弃用", "需要具有以下权限的令牌", "需要令牌", "无需令牌", "参数", "名称", "必填", "含义", "请求体", "响应", "状态码", "数据结构", "本页内容", "示例", "只读",
	},
}

// APIPage is a description of an API in one language.
type APIPage struct {
	Header http.Header
	Body   []byte
}

// APIPages returns the pages that show a description of an API (OpenAPI 3.1), in the order of
// APILanguage. source is the URL of the document. The pages run no script and load nothing.
func APIPages(document []byte, source string) ([]APIPage, error) {
	v, err := readAPI(document)
	if err != nil {
		return nil, err
	}
	v.Source = source
	v.Style = template.HTML("<style>" + apiStyle + "</style>") //nolint:gosec // ours
	var pages []APIPage
	for _, texts := range apiLanguages {
		v.T = texts
		var body bytes.Buffer
		if err := apiTemplate.Execute(&body, v); err != nil {
			return nil, err
		}
		h := apiHeaders.Clone()
		h.Del("Cache-Control") // nothing of it is anybody's; how long it is kept says who serves it
		h.Set("Content-Type", "text/html; charset=utf-8")
		h.Set("Content-Language", texts.Lang)
		h.Set("Vary", "Accept-Language")
		pages = append(pages, APIPage{h, body.Bytes()})
	}
	return pages, nil
}

// APILanguage returns the index of the page for a reader.
func APILanguage(r *http.Request) int {
	_, at := language.MatchStrings(apiMatcher, r.Header.Get("Accept-Language"))
	return at
}
