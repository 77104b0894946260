package translate

import (
	"net/http"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/text/encoding/simplifiedchinese"

	"github.com/gatehouse/gatehouse/module/internal/rest/answer"
	"github.com/gatehouse/gatehouse/module/internal/rest/splice"
	"github.com/gatehouse/gatehouse/module/rest/envelope"
	"github.com/gatehouse/gatehouse/module/rest/resource"
)

const (
	oneThing    = `{"ok":true,"r":{"n":12345678901234567890,"t":"Äh \u00e4","state":1,"z":1.50}}`
	oneWritten  = `{"id":12345678901234567890,"title":"Äh \u00e4","state":"open","z":1.50,"links":[{"rel":"self","method":"GET","href":"/things/12345678901234567890"}]}`
	twoThings   = `{"r":{"total":"41","list":[{"n":1,"t":"a","state":"1"},{"n":"x y","t":"b","state":2}]}}`
	twoWritten  = `{"data":[{"id":1,"title":"a","state":"open","links":[{"rel":"self","method":"GET","href":"/things/1"}]},{"id":"x y","title":"b","state":2,"links":[{"rel":"self","method":"GET","href":"/things/x%20y"}]}],"pagination":{"total":41,"page":1,"limit":20,"total_pages":3}}`
	emptyPage   = `{"data":[],"pagination":{"total":41,"page":9,"limit":20,"total_pages":3}}`
	jsonType    = "application/json; charset=utf-8"
	htmlLabel   = "text/html; charset=UTF-8"
	phpWarning  = "<br />\n<b>Notice</b>:  Undefined index: {x} in <b>/a.php</b> on line <b>3</b><br />\n"
	zhThing     = `{"r":{"n":1,"t":"文章不存在","state":0}}`
	zhWritten   = `{"id":1,"title":"文章不存在","state":0,"links":[{"rel":"self","method":"GET","href":"/things/1"}]}`
	oneAsAnUnit = "/things/1"
)

func TestAnswersAreTranslatedInAnyForm(t *testing.T) {
	gbk, err := simplifiedchinese.GBK.NewEncoder().String(zhThing)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, target, media, coding, body, want string
	}{
		{"an item", oneAsAnUnit, jsonType, "", oneThing, oneWritten},
		{"a list", "/things", jsonType, "", twoThings, twoWritten},
		{"elements as a map", "/things", jsonType, "", `{"r":{"total":41,"list":{"7":{"n":1,"t":"a","state":"1"},"9":{"n":"x y","t":"b","state":2}}}}`, twoWritten},
		{"a list that is null", "/things?page=9", jsonType, "", `{"r":{"total":41,"list":null}}`, emptyPage},
		{"a list that is empty", "/things?page=9", jsonType, "", `{"r":{"list":[],"total":41}}`, emptyPage},
		{"a list that is left out", "/things", jsonType, "", `{"r":{"total":0}}`, `{"data":[],"pagination":{"total":0,"page":1,"limit":20,"total_pages":0}}`},
		{"a page beyond the end that is left out", "/things?page=9", jsonType, "", `{"error":null,"r":{"total":"41"}}`, emptyPage},
		{"a total that is none", "/things", jsonType, "", `{"r":{"list":[],"total":"many"}}`, `{"data":[],"pagination":{"total":null,"page":1,"limit":20,"total_pages":null}}`},
		{"more than was asked for", "/things?limit=1", jsonType, "", `{"r":{"list":[{"n":1},{"n":2}]}}`,
			`{"data":[{"id":1,"links":[{"rel":"self","method":"GET","href":"/things/1"}]}],"pagination":{"total":null,"page":1,"limit":1,"total_pages":null}}`},
		{"JSON labelled HTML", oneAsAnUnit, htmlLabel, "", oneThing, oneWritten},
		{"JSON without a label", oneAsAnUnit, "", "", oneThing, oneWritten},
		{"a byte order mark", oneAsAnUnit, jsonType, "", "\xef\xbb\xbf" + oneThing, oneWritten},
		{"a notice in front", oneAsAnUnit, jsonType, "", phpWarning + oneThing, oneWritten},
		{"a notice in front, labelled HTML", oneAsAnUnit, htmlLabel, "", phpWarning + oneThing, oneWritten},
		{"a notice behind a byte order mark", oneAsAnUnit, htmlLabel, "", "\xef\xbb\xbf" + phpWarning + oneThing, oneWritten},
		{"GBK", oneAsAnUnit, "application/json; charset=GBK", "", gbk, zhWritten},
		{"Latin-1", oneAsAnUnit, "application/json; charset=iso-8859-1", "", "{\"r\":{\"n\":1,\"t\":\"Caf\xe9\"}}",
			`{"id":1,"title":"Café","links":[{"rel":"self","method":"GET","href":"/things/1"}]}`},
		{"gzip", oneAsAnUnit, jsonType, "gzip", oneThing, oneWritten},
		{"deflate", "/things", jsonType, "deflate", twoThings, twoWritten},
		{"zstd", "/things", jsonType, "zstd", twoThings, twoWritten},
		{"gzip and a notice", oneAsAnUnit, htmlLabel, "gzip", phpWarning + oneThing, oneWritten},
		{"an id that stands for a step", oneAsAnUnit, jsonType, "", `{"r":{"n":".."}}`, `{"id":"..","links":[]}`},
		{"no id", oneAsAnUnit, jsonType, "", `{"r":{"x":1}}`, `{"x":1,"links":[]}`},
		{"links of the upstream's own", oneAsAnUnit, jsonType, "", `{"r":{"links":"x","n":1}}`, `{"id":1,"links":[{"rel":"self","method":"GET","href":"/things/1"}]}`},
	} {
		for _, chunk := range []int{0, 1, 7} {
			t.Run(c.name+" by "+strconv.Itoa(chunk), func(t *testing.T) {
				header, body := map[string]string{"Etag": `"x"`, "Content-Md5": "x", "X-Other": "y"}, c.body
				if c.media != "" {
					header["Content-Type"] = c.media
				}
				if c.coding != "" {
					header["Content-Encoding"], body = c.coding, pack(t, c.coding, c.body)
				}
				header["Content-Length"] = strconv.Itoa(len(body))
				g := through(Config{Answer: answerTo(t, things, "GET", c.target)}, 200, header, body, chunk)
				if g.failure != nil || g.Code != 200 || g.Body.String() != c.want {
					t.Fatalf("%v %d\n%s\nwant\n%s", g.failure, g.Code, g.Body, c.want)
				}
				h := g.Header()
				if h.Get("Content-Type") != "application/json" || h.Get("Content-Length") != strconv.Itoa(len(c.want)) || h.Get("Etag") != "" ||
					h.Get("Content-Md5") != "" || h.Get("Content-Encoding") != "" || h.Get("X-Other") != "y" {
					t.Errorf("%v", h)
				}
			})
		}
	}
}

func TestNonJSONIsRefusedWhereJSONIsDeclared(t *testing.T) {
	for _, c := range []struct {
		name, method, media, body string
		failure                   Kind // "" for none
		status                    int
	}{
		{"a page", "GET", htmlLabel, "<!doctype html><script>x = {a: 1}</script>", Syntax, 0},
		{"a page after a creation", "POST", htmlLabel, "\xef\xbb\xbf\r\n<html>", Syntax, 0},
		{"nothing, labelled HTML", "GET", htmlLabel, "", Syntax, 0},
		{"a picture", "GET", "image/png", "\x89PNG", Syntax, 0},
		{"lines", "GET", "application/x-ndjson", "{}\n{}\n", Syntax, 0},
		{"JSON and a comment, labelled as text", "GET", "text/plain", `{"r":{"n":1}} /* 3 ms */`, Syntax, 0},
		{"JSON and a comment", "GET", jsonType, `{"r":{"n":1}} /* 3 ms */`, Syntax, 0},
		{"the same after a change", "PUT", "text/plain", `{"r":{"n":1}} /* 3 ms */`, Syntax, 0},
		// What is no page and no JSON says nothing against the write.
		{"a word after a creation", "POST", "text/plain", "OK", "", 201},
		{"nothing after a change", "PUT", htmlLabel, "", "", 204},
		{"a picture after a change", "PUT", "image/png", "\x89PNG", "", 204},
		{"nothing after a creation, labelled JSON", "POST", jsonType, "", "", 201},
		{"nothing after a change, labelled JSON", "PUT", "application/problem+json", "", "", 204},
		{"blanks", "PUT", jsonType, " \r\n", "", 204},
		{"a byte order mark", "PUT", jsonType, "\xef\xbb\xbf", "", 204},
		{"a word, labelled JSON", "POST", jsonType, "Ok.", "", 201},
		{"a word that cannot be decoded", "PUT", jsonType, "Gel\xf6scht", "", 204},
		{"an error in words, labelled JSON", "PUT", jsonType, "Internal Server Error", Syntax, 0},
		{"a long error, labelled JSON", "POST", jsonType, "SQLSTATE[HY000][2002]:Connection_refused", Syntax, 0},
		{"an error in words that cannot be decoded", "PUT", jsonType, "nicht gel\xf6scht", Charset, 0},
		{"nothing, labelled XML", "PUT", "application/xml", "", "", 204},
		{"a document after a change", "PUT", "application/atom+xml", "<fault/>", Syntax, 0},
		{"words in XML's place", "PUT", "application/xml", "OK", Syntax, 0},
		{"a page, labelled JSON", "PUT", jsonType, "<html>", Syntax, 0},
		{"a page that cannot be decoded, labelled JSON", "PUT", jsonType, "<html>\xf6", Syntax, 0},
		{"JSON that breaks off after a change", "PUT", jsonType, `{"r":{"n":1`, Incomplete, 0},
		{"an array that breaks off after a change", "PUT", jsonType, `[`, Incomplete, 0},
		{"an attachment", "GET", jsonType + "; x=attachment", `{"r":{"n":1}}`, "", 200},
	} {
		for _, chunk := range []int{0, 1} {
			header, target := map[string]string{"Content-Type": c.media}, "/things/1"
			if strings.Contains(c.media, "attachment") {
				header["Content-Disposition"] = "attachment"
			}
			if c.method == "POST" {
				target = "/things"
			}
			g := through(Config{Answer: answerTo(t, things, c.method, target)}, 200, header, c.body, chunk)
			g.w.Settle()
			if c.failure != "" && (g.failure == nil || g.failure.Kind != c.failure || g.Body.Len() > 0) || c.failure == "" && (g.failure != nil || g.Code != c.status) {
				t.Errorf("%s by %d: %v %d %q", c.name, chunk, g.failure, g.Code, g.Body)
			}
			if c.name == "an attachment" && !strings.HasPrefix(g.Body.String(), `{"id":1,`) {
				t.Errorf("%s: %s", c.name, g.Body)
			}
		}
	}
}

func TestAnswersNotToBeTranslatedPassUnchanged(t *testing.T) {
	for _, c := range []struct {
		name   string
		status int
		header map[string]string
		body   string
	}{
		{"a part", 206, map[string]string{"Content-Type": "image/png", "Content-Range": "bytes 0-1/9"}, `{"`},
		{"not modified", 304, map[string]string{"Etag": `"x"`}, ""},
		{"no content", 204, nil, ""},
		{"an error", 404, map[string]string{"Content-Type": jsonType}, `{"error":1}`},
		{"events", 200, map[string]string{"Content-Type": "text/event-stream"}, "data: {\"r\":1}\n\n"},
		{"lines of JSON", 200, map[string]string{"Content-Type": "application/x-ndjson"}, "{}\n{}\n"},
		{"an image", 200, map[string]string{"Content-Type": "image/png", "Etag": `"x"`}, "\x89PNG{"},
		{"a page", 200, map[string]string{"Content-Type": htmlLabel, "Etag": `"x"`}, "<!doctype html><script>x = {a: 1}</script>" + strings.Repeat("x", 99_000)},
		{"a short page", 200, map[string]string{"Content-Type": htmlLabel, "Content-Length": "2"}, "hi"},
		{"nothing, labelled HTML", 200, map[string]string{"Content-Type": htmlLabel}, ""},
	} {
		for _, chunk := range []int{0, 1, 1000} {
			g := through(Config{Answer: answerTo(t, passing, "GET", "/things/1")}, c.status, c.header, c.body, chunk)
			if g.failure != nil || g.Code != c.status || g.Body.String() != c.body {
				t.Errorf("%s by %d: %v %d %.200q", c.name, chunk, g.failure, g.Code, g.Body)
			}
			for name, value := range c.header {
				if g.Header().Get(name) != value {
					t.Errorf("%s: %v", c.name, g.Header())
				}
			}
		}
	}
}

// For PostgREST a list of which there is more is a 206.
func TestPartOfAListIsTranslated(t *testing.T) {
	for _, part := range []string{"0-1/41", "things 0-1/41", "*/41", "bytesize 0-1/41", ""} {
		header := map[string]string{"Content-Type": jsonType, "Content-Range": part}
		g := through(Config{Answer: answerTo(t, things, "GET", "/things")}, 206, header, twoThings, 1000)
		if g.failure != nil || g.Code != 200 || g.Body.String() != twoWritten {
			t.Errorf("%q: %v %d %s", part, g.failure, g.Code, g.Body)
		}
	}
}

func TestRedirectHasNoJSONWhereAnswersAreTranslated(t *testing.T) {
	for _, status := range []int{300, 301, 303, 307} {
		for _, location := range []string{"", "/things/2"} {
			header := map[string]string{"Content-Type": jsonType, "Content-Length": "9"}
			if location != "" {
				header["Location"] = location
			}
			locate := func(at string, _ Use) (string, bool) { return at, true }
			g := through(Config{Answer: answerTo(t, things, "GET", "/things/1"), Locate: locate}, status, header, oneThing, 1000)
			if g.failure != nil || g.Code != status || g.Body.Len() > 0 || g.Header().Get("Content-Length") != "" || g.Header().Get("Location") != location {
				t.Errorf("%d to %q: %v %d %v %s", status, location, g.failure, g.Code, g.Header(), g.Body)
			}
		}
	}
}

// Salesforce lists the records that have the same external id, and OpenStack its versions.
func TestChoicesPassWhereNothingIsDeclared(t *testing.T) {
	const choices = `["/a/1","/a/2"]`
	plain := resource.Resource{Path: "things"}
	for media, want := range map[string]string{"application/json": choices, "text/html": ""} {
		g := through(Config{Answer: answerTo(t, plain, "GET", "/things/1")}, 300, map[string]string{"Content-Type": media}, choices, 4)
		if g.failure != nil || g.Code != 300 || g.Body.String() != want {
			t.Errorf("%s: %v %d %s", media, g.failure, g.Code, g.Body)
		}
	}
}

func TestUndeclaredRedirectKeepsItsBody(t *testing.T) {
	locate := func(at string, _ Use) (string, bool) { return "/v1" + at, true }
	for _, status := range []int{300, 302, 303} {
		for location, want := range map[string]string{"": "", "/a": "/v1/a"} {
			header := map[string]string{"Content-Type": htmlLabel, "Content-Location": "/b", "Etag": `"1"`}
			if location != "" {
				header["Location"] = location
			}
			g := through(Config{Answer: answer.NewPlain(nil), Locate: locate}, status, header, "<p>", 4)
			h := g.Header()
			if g.Code != status || g.Body.String() != "<p>" || h.Get("Location") != want || h.Get("Content-Location") != "/v1/b" || h.Get("Etag") == "" || h.Get("Content-Type") != htmlLabel {
				t.Errorf("%d to %q: %v %d %v %s", status, location, g.failure, g.Code, h, g.Body)
			}
		}
	}
}

// What a job reads of an answer belongs to no operation either.
func TestRedirectOfAJobLosesItsBody(t *testing.T) {
	plan, err := splice.Compile(splice.Config{})
	if err != nil {
		t.Fatal(err)
	}
	g := through(Config{Answer: answer.NewPlain(plan)}, 302, map[string]string{"Content-Type": htmlLabel, "Location": "/a"}, "<p>", 4)
	if g.Code != 302 || g.Body.Len() > 0 {
		t.Errorf("%v %d %s", g.failure, g.Code, g.Body)
	}
}

func TestUntranslatableAnswersFailBeforeTheFirstByte(t *testing.T) {
	deep := `{"r":` + strings.Repeat("[", 200) + strings.Repeat("]", 200) + `}`
	for _, c := range []struct {
		name   string
		header map[string]string
		body   string
		want   Kind
	}{
		{"NaN", map[string]string{"Content-Type": jsonType}, `{"r":{"n":NaN}}`, Syntax},
		{"cut short", map[string]string{"Content-Type": jsonType}, `{"r":{"n":1}`, Incomplete},
		{"nothing", map[string]string{"Content-Type": jsonType}, ``, Incomplete},
		{"more behind it", map[string]string{"Content-Type": jsonType}, `{"r":{"n":1}}{}`, Syntax},
		{"no item", map[string]string{"Content-Type": jsonType}, `{"s":{}}`, Missing},
		{"an item of another kind", map[string]string{"Content-Type": jsonType}, `{"r":[1]}`, Missing},
		{"no such item", map[string]string{"Content-Type": jsonType}, `{"r":[]}`, Missing},
		{"an item with nothing in it", map[string]string{"Content-Type": jsonType}, `{"r":{}}`, Missing},
		{"too deep", map[string]string{"Content-Type": jsonType}, deep, Depth},
		{"a coding nobody knows", map[string]string{"Content-Type": jsonType, "Content-Encoding": "br"}, "x", Coding},
		{"two codings", map[string]string{"Content-Type": jsonType, "Content-Encoding": "gzip, gzip"}, "x", Coding},
		{"no gzip at all", map[string]string{"Content-Type": jsonType, "Content-Encoding": "gzip"}, oneThing, Coding},
		{"half a gzip", map[string]string{"Content-Type": jsonType, "Content-Encoding": "gzip"}, pack(t, "gzip", oneThing)[:30], Incomplete},
		{"a bomb", map[string]string{"Content-Type": jsonType, "Content-Encoding": "gzip"}, pack(t, "gzip", strings.Repeat(" ", 8<<20)+oneThing), Bomb},
		{"a bomb of zstd", map[string]string{"Content-Type": jsonType, "Content-Encoding": "zstd"}, pack(t, "zstd", strings.Repeat(" ", 8<<20)+oneThing), Bomb},
	} {
		for _, chunk := range []int{0, 5} {
			g := through(Config{Answer: answerTo(t, things, "GET", "/things/1")}, 200, c.header, c.body, chunk)
			if g.failure == nil || g.failure.Kind != c.want || g.w.Committed() || g.Body.Len() > 0 {
				t.Errorf("%s by %d: %v, committed %v, %q", c.name, chunk, g.failure, g.w.Committed(), g.Body)
			}
		}
	}
}

func TestBrokenListStreamNeverEndsCleanly(t *testing.T) {
	element := `{"n":1,"t":"` + strings.Repeat("x", 1000) + `"}`
	long := `{"r":{"list":[` + strings.Repeat(element+",", 200) + element + `],"total":201}}`
	a := answerTo(t, things, "GET", "/things?limit=100")
	g := through(Config{Answer: a}, 200, map[string]string{"Content-Type": jsonType, "Content-Length": strconv.Itoa(len(long))}, long, 4096)
	if g.failure != nil || g.Header().Get("Content-Length") != "" || !strings.HasSuffix(g.Body.String(), `"pagination":{"total":201,"page":1,"limit":100,"total_pages":3}}`) {
		t.Fatalf("%v %v %.100s", g.failure, g.Header(), g.Body.String()[g.Body.Len()-100:])
	}
	if l := g.Header().Get("Link"); strings.Contains(l, "last") || !strings.Contains(l, `rel="first"`) {
		t.Errorf("the total was not known yet: %s", l)
	}
	for _, c := range []struct {
		name, body string
		want       Kind
	}{
		{"cut", long[:len(long)/2], Incomplete}, {"broken", long[:len(long)/2] + "\x00" + long[len(long)/2:], Syntax},
	} {
		g := through(Config{Answer: a}, 200, map[string]string{"Content-Type": jsonType}, c.body, 4096)
		if g.failure == nil || g.failure.Kind != c.want || !g.w.Committed() || strings.HasSuffix(g.Body.String(), "}") && strings.Contains(g.Body.String(), "pagination") {
			t.Errorf("%s: %v %.100s", c.name, g.failure, g.Body.String()[g.Body.Len()-100:])
		}
	}
}

func TestCreationsAndDeletions(t *testing.T) {
	locate := func(at string, _ Use) (string, bool) {
		to, ok := map[string]string{"/t.php?n=7": "/things/7", "https://cdn.example/x": "https://cdn.example/x"}[at]
		return to, ok
	}
	for _, c := range []struct {
		name, method, target string
		status               int
		header               map[string]string
		body                 string
		want                 int
		location, wantBody   string
	}{
		{"created", "POST", "/things", 200, map[string]string{"Content-Type": jsonType}, `{"r":{"n":"a/b"}}`, 201, "/things/a%2Fb", `{"id":"a/b","links":[{"rel":"self","method":"GET","href":"/things/a%2Fb"}]}`},
		{"created by 202", "POST", "/things", 202, map[string]string{"Content-Type": jsonType}, `{"r":{"n":1}}`, 201, "/things/1", `{"id":1,"links":[{"rel":"self","method":"GET","href":"/things/1"}]}`},
		{"created, and silent about it", "POST", "/things", 204, nil, "", 201, "", ""},
		{"created, as a page of years ago", "POST", "/things", 303, map[string]string{"Location": "/t.php?n=7", "Content-Type": "text/html"}, "see there", 201, "/things/7", ""},
		{"created, the address the upstream's", "POST", "/things", 201, map[string]string{"Content-Type": jsonType, "Location": "/t.php?n=8"}, `{"r":{"n":8}}`, 201, "/things/8", `{"id":8,"links":[{"rel":"self","method":"GET","href":"/things/8"}]}`},
		{"deleted", "DELETE", "/things/1", 200, map[string]string{"Content-Type": jsonType, "Content-Length": "9"}, `{"ok":"!"}`, 204, "", ""},
		{"sent within", "GET", "/things/1", 301, map[string]string{"Location": "/t.php?n=7"}, "", 301, "/things/7", ""},
	} {
		g := through(Config{Answer: answerTo(t, things, c.method, c.target), Locate: locate}, c.status, c.header, c.body, 3)
		if g.failure != nil || g.Code != c.want || g.Header().Get("Location") != c.location || g.Body.String() != c.wantBody {
			t.Errorf("%s: %v %d %v %s", c.name, g.failure, g.Code, g.Header(), g.Body)
		}
	}
	big := `{"r":{"t":"` + strings.Repeat("x", 300<<10) + `","n":5}}`
	g := through(Config{Answer: answerTo(t, things, "POST", "/things")}, 200, map[string]string{"Content-Type": jsonType}, big, 4096)
	if g.failure != nil || g.Code != 201 || g.Header().Get("Location") != "/things/5" {
		t.Errorf("an id behind a long text: %v %d %v", g.failure, g.Code, g.Header())
	}
	big = `{"r":{"t":"` + strings.Repeat("x", 2<<20) + `","n":5}}`
	if g = through(Config{Answer: answerTo(t, things, "POST", "/things")}, 200, map[string]string{"Content-Type": jsonType}, big, 4096); g.failure != nil || g.Code != 201 || g.Header().Get("Location") != "" {
		t.Errorf("an id that nobody waits for: %v %d %v", g.failure, g.Code, g.Header())
	}
	for _, to := range []string{"/login.php", "https://cdn.example/x", "//cdn.example/x"} {
		g = through(Config{Answer: answerTo(t, things, "GET", "/things/1"), Locate: locate}, 302, map[string]string{"Location": to}, "", 0)
		if g.failure == nil || g.failure.Kind != Redirect || g.w.Committed() {
			t.Errorf("a redirect that leads nowhere: %s %v", to, g.failure)
		}
	}
}

func TestVendorMediaTypeIsAnsweredIfRequested(t *testing.T) {
	const vendor = "application/vnd.acme.v1+json"
	g := through(Config{Answer: answerTo(t, things, "GET", "/things/1"), MediaType: vendor}, 200, map[string]string{"Content-Type": jsonType}, oneThing, 0)
	if g.Header().Get("Content-Type") != vendor {
		t.Error(g.Header())
	}
	g = through(Config{Answer: answer.NewPlain(nil), MediaType: vendor}, 200, map[string]string{"Content-Type": jsonType}, oneThing, 0)
	if g.Header().Get("Content-Type") != vendor || g.Body.String() != oneThing {
		t.Error(g.Header())
	}
	g = through(Config{Answer: answer.NewPlain(nil), MediaType: vendor}, 200, map[string]string{"Content-Type": "image/png"}, "x", 0)
	if g.Header().Get("Content-Type") != "image/png" {
		t.Error(g.Header())
	}
}

func TestTrailersFollowTheBody(t *testing.T) {
	for _, target := range []string{"/things/1"} {
		a := answerTo(t, things, "GET", target)
		rec := newTrailed()
		w := New(rec, Config{Answer: a})
		w.Header().Set("Content-Type", jsonType)
		w.Header().Set("Trailer", "X-Sum")
		w.WriteHeader(200)
		if _, err := w.Write([]byte(oneThing)); err != nil {
			t.Fatal(err)
		}
		w.Header().Set("X-Sum", "7")
		if f := w.Finish(); f != nil {
			t.Fatal(f)
		}
		w.Release()
		if rec.sent.Get("X-Sum") != "" || rec.sent.Get("Content-Length") != "" || rec.Header().Get("X-Sum") != "7" {
			t.Errorf("sent %v, left %v", rec.sent, rec.Header())
		}
	}
}

// trailed remembers the header as it was sent.
type trailed struct {
	h, sent http.Header
}

func newTrailed() *trailed { return &trailed{h: make(http.Header)} }

func (w *trailed) Header() http.Header         { return w.h }
func (w *trailed) Write(p []byte) (int, error) { return len(p), nil }
func (w *trailed) WriteHeader(int)             { w.sent = w.h.Clone() }

// A list that is missing is empty if the total, or what is declared, says so; otherwise nobody knows.
func TestMissingListIsEmptyOnlyIfTheAnswerSaysSo(t *testing.T) {
	r := things
	declared := *things.List
	declared.EmptyWhen = []envelope.Condition{{Pointer: "/r/state", Op: "==", Values: []string{"none"}}, {Pointer: "/r/list", Op: "==", Values: []string{"false"}}}
	r.List = &declared
	page := func(total, pages string) string {
		return `{"data":[],"pagination":{"total":` + total + `,"page":3,"limit":20,"total_pages":` + pages + `}}`
	}
	for _, c := range []struct{ body, want string }{ // want "" is a failure
		{`{"r":{"total":0}}`, page("0", "0")},
		{`{"r":{"total":40}}`, page("40", "2")},
		{`{"r":{"total":41}}`, ""},
		{`{"r":{"total":null}}`, ""},
		{`{"r":{}}`, ""},
		{`{}`, ""},
		{`{"r":{"list":"no database","total":0}}`, ""},
		{`{"success":false,"r":{"total":0}}`, ""},
		{`{"error":"no database","r":{"total":0}}`, ""},
		{`{"r":{"total":0`, ""},
		{`{"r":{"state":"none","total":50}}`, page("50", "3")},
		{`{"r":{"state":"none"}}`, page("null", "null")},
		{`{"r":{"list":false}}`, page("null", "null")},
		{`{"error":"none","r":{"state":"none"}}`, page("null", "null")},
	} {
		for _, chunk := range []int{0, 1} {
			g := through(Config{Answer: answerTo(t, r, "GET", "/things?page=3")}, 200, map[string]string{"Content-Type": jsonType}, c.body, chunk)
			if (g.failure != nil) != (c.want == "") || g.Body.String() != c.want {
				t.Errorf("%s by %d: %v %s", c.body, chunk, g.failure, g.Body)
			}
		}
	}
}
