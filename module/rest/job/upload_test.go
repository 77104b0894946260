package job

import (
	"bytes"
	"context"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

func held(content, name, kind string) *file {
	return &file{
		ctx: context.Background(), cancel: func(error) {}, body: io.NopCloser(strings.NewReader(content)),
		max: 1 << 20, left: time.Minute, Length: int64(len(content)), Name: name, Type: kind,
	}
}

func TestFileIsPassedOnInTheConfiguredForm(t *testing.T) {
	up, err := (&Fetch{}).newUpload(held("a,b", "list.csv", "text/csv"))
	if err != nil {
		t.Fatal(err)
	}
	body, _ := io.ReadAll(up.Body)
	if string(body) != "a,b" || up.Length != 3 || up.Header.Get("Content-Type") != "text/csv" || up.Header.Get("Content-Disposition") != "attachment; filename=list.csv" {
		t.Errorf("%q %+v", body, up)
	}
	for _, name := range []string{"list.csv", "Größe \"x\".csv", "a;b=c.csv", "a; name=token", "\\.csv"} {
		if up, err = (&Fetch{Part: "upload"}).newUpload(held("a,b", name, "text/csv")); err != nil {
			t.Fatal(err)
		}
		body, _ = io.ReadAll(up.Body)
		if up.Length != int64(len(body)) {
			t.Errorf("%d bytes, %d said", len(body), up.Length)
		}
		if bytes.Contains(body, []byte("; name=token")) { // Rack takes the last one for the name of the part
			t.Errorf("%s", body)
		}
		_, params, _ := mime.ParseMediaType(up.Header.Get("Content-Type"))
		form, err := multipart.NewReader(bytes.NewReader(body), params["boundary"]).ReadForm(1 << 20)
		if err != nil {
			t.Fatal(err)
		}
		if f := form.File["upload"]; len(form.File) != 1 || len(form.Value) != 0 || len(f) != 1 || f[0].Header.Get("Content-Type") != "text/csv" || f[0].Size != 3 {
			t.Errorf("%s: %+v", name, form)
		}
	}
	f := held("a,b", "x", "text/csv")
	f.Length = -1
	if up, err = (&Fetch{Part: "upload"}).newUpload(f); err != nil || up.Length != -1 {
		t.Errorf("%v %+v", err, up)
	}
}

func TestUploadedFileIsNotReadAsFormParameters(t *testing.T) {
	const unknown = "application/octet-stream"
	for label, want := range map[string]string{
		"text/csv":                             "text/csv",
		"TEXT/CSV; Charset=GBK":                "text/csv; charset=GBK",
		"application/x-www-form-urlencoded":    unknown,
		"Application/X-WWW-Form-Urlencoded; a": unknown,
		"application/x-www-form-urlencodedx":   unknown,
		"application/x-url-encoded":            unknown,
		"multipart/form-data; boundary=x":      unknown,
		"application/multipart; boundary=x":    unknown,
		"message/http":                         unknown,
		"":                                     unknown,
		"x":                                    unknown,
		"text/csv; charset=\"a\r\nb\"":         unknown,
	} {
		got := fileType(label)
		if label == "x" && got == "x" { // a token of its own is none of the forms
			continue
		}
		if got != want {
			t.Errorf("%q: %q, want %q", label, got, want)
		}
	}
}

func TestUploadFileNameHasNoPath(t *testing.T) {
	for _, c := range []struct{ path, disposition, want string }{
		{"/dir/list.csv", "", "list.csv"},
		{"/", "", "file"},
		{"", "", "file"},
		{"/..", "", "file"},
		{"/a", `attachment; filename="b.csv"`, "b.csv"},
		{"/a", `attachment; filename="../../etc/passwd"`, "passwd"},
		{"/a", `attachment; filename="C:\\x\\y.csv"`, "y.csv"},
		{"/a", `attachment; filename*=UTF-8''%e2%82%ac.csv`, "€.csv"},
		{"/a", `attachment; filename*=UTF-8''a%0d%0ab`, "a__b"},
		{"/a", `attachment; filename=".htaccess"`, "htaccess"},
		{"/a", `nonsense"`, "a"},
		{"/%2e%2e%2f", "", "file"},
		{"/a%00b", "", "a_b"},
		{"/\u202etxt.exe", "", "_txt.exe"},
		{"/" + strings.Repeat("ä", 300), "", strings.Repeat("ä", 50)},
	} {
		u, err := url.Parse("https://files.example" + c.path)
		if err != nil {
			t.Fatal(err)
		}
		res := &http.Response{Header: http.Header{"Content-Disposition": {c.disposition}}, Request: &http.Request{URL: u}}
		if got := fileName(res); got != c.want || !utf8.ValidString(got) {
			t.Errorf("%q %q: %q, want %q", c.path, c.disposition, got, c.want)
		}
	}
}
