package upstream_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/gatehouse/gatehouse/module/internal/rest/upstream"
	"github.com/gatehouse/gatehouse/module/rest/charset"
	"github.com/gatehouse/gatehouse/module/rest/envelope"
	"github.com/gatehouse/gatehouse/module/rest/supply"
)

func TestJobBodyCannotSetGatewayParameters(t *testing.T) {
	params := []supply.Param{{In: supply.Body, Name: "api_key", Value: "{env.KEY}"}}
	for _, c := range []struct {
		media, coding, body string
		status              int // 0: accepted
	}{
		{"application/json", "", `{"title":"a"}`, 0},
		{"application/json", "", `{"api_key":"mine"}`, http.StatusBadRequest},
		{"application/json", "", `{"title"`, http.StatusBadRequest},
		// Rails takes what is in a member named after the controller for the whole body.
		{"application/json", "", `{"article":{"title":"a"},"tags":[{"api_key":1}]}`, 0},
		{"application/json", "", `{"article":{"apiKey":"mine"}}`, http.StatusBadRequest},
		{"text/plain", "", `{"article":{"api_key":"mine"}} .`, http.StatusBadRequest},
		// Rails, Mongoose, Django's widgets in forms.
		{"application/json", "", `{"api_key(1i)":"mine"}`, http.StatusBadRequest},
		{"application/json", "", `{"article":{"api_key(1i)":"mine"}}`, http.StatusBadRequest},
		{"application/x-www-form-urlencoded", "", "api_key(1i)=mine", http.StatusBadRequest},
		{"application/json", "", `{"api_key.x":"mine"}`, http.StatusBadRequest},
		{"application/json", "", `{"article":{"api_key.x":"mine"}}`, http.StatusBadRequest},
		{"application/x-www-form-urlencoded", "", "api_key_0=mine", http.StatusBadRequest},
		{"application/x-www-form-urlencoded", "", "api_key_x=1&key_0=1", 0},
		{"application/json", "", `{"api_key_0":1,"key.x":1}`, 0},
		// A form that names its charset.
		{"application/x-www-form-urlencoded", "", "_charset_=UTF-8&a=1", 0},
		{"application/x-www-form-urlencoded", "", "_charset_=iso-8859-1&a=1", http.StatusBadRequest},
		{"application/x-www-form-urlencoded", "", "%5fcharset_=utf-8;_charset_=%zz", http.StatusBadRequest},
		{"multipart/form-data; boundary=B", "", "--B\r\nContent-Disposition: form-data; name=\"_charset_\"\r\n\r\nutf-8\r\n--B--\r\n", 0},
		{"multipart/form-data; boundary=B", "", "--B\r\nContent-Disposition: form-data; name=\"_charset_\"\r\n\r\nIBM037\r\n--B--\r\n", http.StatusBadRequest},
		{"multipart/mixed; boundary=B", "", "--B\r\nContent-ID: _charset_\r\n\r\nutf-8\r\n--B--\r\n", http.StatusBadRequest},
		{"application/json", "", `{"_charset_":"IBM037"}`, 0},
		// Another charset: Express and Django read +AF8- as _ in UTF-7, and Django reads even the query in the body's charset.
		{"application/json; charset=UTF-8", "", `{"title":"a"}`, 0},
		{"application/json; charset=utf-7", "", `{"api+AF8-key":"mine"}`, http.StatusUnsupportedMediaType},
		{"application/json; charset=shift_jis", "", "{\"\x81\\\":1,\"api_key\":1,\"\":1}", http.StatusUnsupportedMediaType},
		{"application/json; charset*=utf-8''utf-7", "", `{}`, http.StatusUnsupportedMediaType},
		{"text/csv; charset=cp037", "", "a;b", http.StatusUnsupportedMediaType},
		{"text/csv; charset=windows-1252", "", "a;b", 0},
		// In Shift_JIS \x81\\ is one character, so that the object ends later than in UTF-8.
		{"text/plain; charset=Shift_JIS", "", "{\"\x81\\\":\":1}\",\"api_key\":\"mine\"}", http.StatusBadRequest},
		{"text/plain; charset=gbk", "", " {\"\x81\\\":\":1}\",\"api_key\":\"mine\"}", http.StatusBadRequest},
		{"text/csv; charset=shift_jis", "", "\x81\\;b", 0},
		{"application/json", "gzip", `{}`, http.StatusUnsupportedMediaType},
		{"application/x-www-form-urlencoded", "", "title=a", 0},
		{"application/x-www-form-urlencoded", "", "api_key=mine", http.StatusBadRequest},
		{"text/plain", "", `{"api_key":"mine"}`, http.StatusBadRequest},
		{"text/plain", "", "api_key=mine", http.StatusBadRequest},
		{"", "", "title=a", 0},
		{"", "", `{"title":"a&b"}`, 0},
		// A form to some, JSON to others; what a strict reader leaves out; what follows an object.
		{"", "", `{"title":"&api_key=mine"}`, http.StatusBadRequest},
		{"application/x-url-encoded", "", `{"title":"&api_key=mine"}`, http.StatusBadRequest},
		{"", "", "api_key=mine;", http.StatusBadRequest},
		{"", "", "api_key=%zz", http.StatusBadRequest},
		{"", "", "api%5fkey[%zz]=mine", http.StatusBadRequest},
		{"text/plain", "", `{"api_key":"mine"} .`, http.StatusBadRequest},
		// What Python and Ruby read as JSON whatever its type is.
		{"text/plain", "", `{"api_key":"mine","n":NaN}`, http.StatusBadRequest},
		{"", "", "{\x00\"\x00a\x00p\x00i\x00_\x00k\x00e\x00y\x00\"\x00:\x001\x00}\x00", http.StatusBadRequest},
		{"text/plain", "", "\xfe\xff\x00{\x00\"\x00a\x00p\x00i\x00_\x00k\x00e\x00y\x00\"\x00:\x001\x00}", http.StatusBadRequest},
		{"text/plain", "", "/* a */ // b\n{\"api_key\":1}", http.StatusBadRequest},
		{"application/rtf", "", `{\rtf1 a}`, 0},
		{"text/plain", "", "{{name}}", 0},
		{"application/octet-stream", "", "\x81\x92\xa7{\x93a", 0},
		{"text/plain", "", "/a\n{}", 0},
		{"application/json; x=urlencoded", "", `{"title":"&api_key=mine"}`, http.StatusBadRequest},
		// Some APIs look for the boundary, others begin at the first line.
		{"multipart/form-data; boundary=B", "", "title\r\n--B\r\nContent-Disposition: form-data; name=\"title\"\r\n\r\na\r\n--B--\r\n", http.StatusBadRequest},
		{"multipart/form-data; boundary=B", "", "--B\r\nContent-Disposition: form-data; name=\"title\"\r\n\r\na\r\n--B--\r\n", 0},
		{"application/multipart; boundary=B", "", "--B\r\nContent-Disposition: form-data; name=\"api_key\"\r\n\r\nmine\r\n--B--\r\n", http.StatusBadRequest}, // formidable
		{"multipart/mixed; boundary=B", "", "--B\r\nContent-Disposition: form-data; name=\"api_key\"\r\n\r\nmine\r\n--B--\r\n", http.StatusBadRequest},
		{"multipart/mixed; boundary=B", "", "--B\r\nContent-ID: api_key\r\n\r\nmine\r\n--B--\r\n", http.StatusBadRequest},
		{"multipart/mixed; boundary=B", "", "--B\r\nContent-ID: <a>\r\n\r\nmine\r\n--B--\r\n", 0},
		{"multipart/form-data; boundary=B", "", "--B\r\nContent-Disposition: form-data; name=\"title\"; filename=\"; name=api_key\"\r\n\r\nmine\r\n--B--\r\n", http.StatusBadRequest},
	} {
		refused := upstream.CheckJobBody(params, nil, bodyHeader(c.media, c.coding), []byte(c.body))
		if status := statusOf(refused); status != c.status {
			t.Errorf("%+v: status %d", c, status)
		}
	}
	inside := []byte(`{"b":{"API_KEY":1,"apiKey":2},"a":{"title":1,"api_key":3}}`)
	for range 20 { // the same field each time, named as in a resource
		if refused := upstream.CheckJobBody(params, nil, nil, inside); refused == nil || refused.Field != "/a/api_key" {
			t.Fatalf("%+v", refused)
		}
	}
	dotted := []supply.Param{{In: supply.Body, Name: "meta.role", Value: "user"}}
	for body, status := range map[string]int{`{"meta":{"role":"admin"}}`: http.StatusBadRequest, `{"Meta":["admin"]}`: http.StatusBadRequest, `{"meta":"x","other":{"role":"x"},"meta.x":1}`: 0} {
		if refused := upstream.CheckJobBody(dotted, nil, bodyHeader("application/json", ""), []byte(body)); statusOf(refused) != status {
			t.Errorf("%s: %v", body, refused)
		}
	}
	if refused := upstream.CheckJobBody(nil, nil, http.Header{"Content-Encoding": {"gzip"}}, nil); refused != nil {
		t.Error("without parameters of the gateway:", refused)
	}
}

// An API that converts what it is sent, whatever the label says, reads letters of several bytes as such, and PHP takes a quote
// for the second byte of one.
func TestJobBodyIsReadInTheCharsetOfTheAPI(t *testing.T) {
	params := []supply.Param{{In: supply.Body, Name: "api_key", Value: "{env.KEY}"}}
	objects := []string{"{\"\x81\\\":\":1}\",\"api_key\":\"mine\"}", "{\"k\xb0\":1}\":2,\"api_key\":\"mine\"}"}
	for _, name := range []string{"gbk", "sjis", "big5", "euc-kr", "euc-jp", "iso-8859-1", "utf-8"} {
		reads, err := charset.Find(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, label := range []string{"", "text/plain", "text/plain; charset=utf-8"} {
			for _, object := range objects {
				refused := upstream.CheckJobBody(params, reads, bodyHeader(label, ""), []byte(object))
				if got, want := refused != nil, reads.IsMultibyte(); got != want {
					t.Errorf("%s, %q, %q: %v", name, label, object, refused)
				}
			}
		}
		if refused := upstream.CheckJobBody(params, reads, bodyHeader("text/csv", ""), []byte("\x81\\;b")); refused != nil {
			t.Errorf("%s: %v", name, refused)
		}
		if refused := upstream.CheckJobBody(params, reads, bodyHeader("application/json", ""), []byte(`{"title":"a"}`)); refused != nil {
			t.Errorf("%s: %v", name, refused)
		}
	}
}

// PHP's $_REQUEST has the form's value of a name that is in the address too.
func TestJobFormCannotReplaceParametersOfTheAddress(t *testing.T) {
	const part = "--B\r\nContent-Disposition: form-data; name=\"%s\"\r\n\r\n1\r\n--B--\r\n"
	for _, c := range []struct {
		query, media, coding, body string
		status                     int // 0: accepted
	}{
		{"mod=import", "application/x-www-form-urlencoded", "", "a=1&mod=drop", http.StatusBadRequest},
		{"mod=import", "application/x-www-form-urlencoded", "", "a=1&Mod[]=drop", http.StatusBadRequest},
		{"mod=import", "application/x-www-form-urlencoded", "", "a=mod", 0},
		{"mod=import", "application/x-www-form-urlencoded", "", "a=b;c=%zz", 0},
		{"mod=import", "application/x-www-form-urlencoded", "", "a=b;m%6fd=drop", http.StatusBadRequest},
		{"", "application/x-www-form-urlencoded", "", "mod=drop", 0},
		{"job%5Bmod%5D=import", "application/x-www-form-urlencoded", "", "job[mod]=drop", http.StatusBadRequest},
		{"mod=import", "application/x-www-form-urlencoded", "gzip", "x", http.StatusUnsupportedMediaType},
		{"mod=import", "", "", "mod=drop", http.StatusBadRequest}, // Rack, and php-fpm behind Caddy
		{"mod=import", "multipart/form-data; boundary=B", "", fmt.Sprintf(part, "mod"), http.StatusBadRequest},
		{"mod=import", "multipart/form-data; boundary=B", "", fmt.Sprintf(part, "a"), 0},
		{"mod=import", "application/json", "", `{"mod":"drop"}`, 0},
		{"mod=import", "text/csv", "gzip", "mod=drop", 0},
		{"mod=import", "multipart/form-data; boundary=B", "", "", 0},
	} {
		refused := upstream.CheckJobForm(c.query, bodyHeader(c.media, c.coding), []byte(c.body))
		if status := statusOf(refused); status != c.status {
			t.Errorf("%+v: status %d", c, status)
		}
	}
}

// bodyHeader returns the header of a request with a body; "" leaves a field out.
func bodyHeader(media, coding string) http.Header {
	h := http.Header{}
	if media != "" {
		h.Set("Content-Type", media)
	}
	if coding != "" {
		h.Set("Content-Encoding", coding)
	}
	return h
}

// statusOf returns the status of a refusal, 0 for none.
func statusOf(refused *envelope.Refusal) int {
	if refused == nil {
		return 0
	}
	return refused.Status
}
