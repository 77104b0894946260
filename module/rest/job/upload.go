package job

import (
	"bytes"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"path"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

const maxFileName = 100

// Upload is the body of the upstream's request.
type Upload struct {
	Body   io.Reader
	Length int64 // -1: not known
	Header http.Header
}

// inQuotes replaces what some program takes for the end of a quoted file name: for Rack a semicolon is followed by
// the name of the part.
var inQuotes = strings.NewReplacer(`\`, `_`, `"`, `_`, `;`, `_`)

// newUpload returns a file in the form that the upstream expects.
func (c *Fetch) newUpload(f *file) (Upload, error) {
	u := Upload{Body: f, Length: f.Length, Header: make(http.Header)}
	if c.Part == "" {
		u.Header.Set("Content-Type", f.Type)
		if d := mime.FormatMediaType("attachment", map[string]string{"filename": f.Name}); d != "" {
			u.Header.Set("Content-Disposition", d)
		}
		return u, nil
	}
	var head bytes.Buffer
	w := multipart.NewWriter(&head)
	_, err := w.CreatePart(textproto.MIMEHeader{
		"Content-Disposition": {`form-data; name="` + c.Part + `"; filename="` + inQuotes.Replace(f.Name) + `"`},
		"Content-Type":        {f.Type},
	})
	if err != nil {
		return u, err
	}
	tail := "\r\n--" + w.Boundary() + "--\r\n"
	u.Header.Set("Content-Type", w.FormDataContentType())
	if f.Length >= 0 {
		u.Length += int64(head.Len() + len(tail))
	}
	u.Body = io.MultiReader(&head, f, strings.NewReader(tail))
	return u, nil
}

// form matches what some API takes for the type of a form: werkzeug x-url-encoded, and Node's formidable whatever has one of these words.
var form = regexp.MustCompile(`(?i)url-?encoded|multipart`)

// fileType returns the media type from the file's server, but never one that makes an upstream
// read the file's content as parameters of the request: PHP would add them to those of the URL.
func fileType(label string) string {
	const unknown = "application/octet-stream"
	media, params, err := mime.ParseMediaType(label)
	if err != nil || form.MatchString(label) || strings.HasPrefix(media, "message/") {
		return unknown
	}
	if charset := params["charset"]; charset != "" {
		params = map[string]string{"charset": charset}
	} else {
		params = nil
	}
	if text := mime.FormatMediaType(media, params); text != "" {
		return text
	}
	return unknown
}

// fileName returns the name from the file's server, or the end of its URL, without anything that
// leads out of a directory or hides a file.
func fileName(res *http.Response) string {
	_, params, _ := mime.ParseMediaType(res.Header.Get("Content-Disposition"))
	name := params["filename"]
	if name == "" {
		name = path.Base(res.Request.URL.Path)
	}
	name = strings.ToValidUTF8(name, "_")
	name = name[strings.LastIndexAny(name, `/\`)+1:]
	name = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
			return '_'
		}
		return r
	}, name)
	for len(name) > maxFileName {
		_, n := utf8.DecodeLastRuneInString(name)
		name = name[:len(name)-n]
	}
	if name = strings.TrimLeft(name, ". "); name == "" {
		return "file"
	}
	return name
}
