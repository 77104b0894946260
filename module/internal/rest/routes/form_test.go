package routes

import (
	"bytes"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/rest/mapping"
	"github.com/gatehouse/gatehouse/module/rest/resource"
)

func formed(t *testing.T, as, body string) (mapping.Upstream, int) {
	t.Helper()
	table := newTable(t, []resource.Resource{{Path: "things", Routes: []resource.Route{{Method: "POST", Path: "/things", Upstream: "/t", As: as}}}})
	m, _, refused := table.Match("POST", "/things")
	if refused != nil {
		t.Fatal(refused)
	}
	up, refused := m.Request(mapping.Asked{Header: http.Header{"Content-Type": {"application/json"}}, Body: []byte(body)})
	if refused != nil {
		return up, refused.Status
	}
	return up, http.StatusOK
}

func TestFormsEncodeArraysAndObjectsLikePHP(t *testing.T) {
	const body = `{"a":"x&y=\u00fc","n":12345678901234567890.10,"yes":true,"no":false,"none":null,"list":[1,"two",{"x":[null,{"y":1}]},[true]],"o":{"p":{"q":"r"},"":0},"e":[],"f":{}}`
	want := []string{
		"a=x&y=ü", "n=12345678901234567890.10", "yes=1", "no=0", "none=", "list[]=1", "list[]=two", "list[2][x][]=", "list[2][x][1][y]=1",
		"list[3][]=1", "o[p][q]=r", "o[]=0",
	}
	up, _ := formed(t, "form", body)
	var got []string
	for pair := range strings.SplitSeq(string(up.Body), "&") {
		text, err := url.QueryUnescape(pair)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, text)
	}
	if !slices.Equal(got, want) || up.Set.Get("Content-Type") != "application/x-www-form-urlencoded" {
		t.Errorf("%v, want %v (%s)", got, want, up.Set.Get("Content-Type"))
	}
	up, _ = formed(t, "multipart", body)
	media, params, err := mime.ParseMediaType(up.Set.Get("Content-Type"))
	if err != nil || media != "multipart/form-data" {
		t.Fatal(media, err)
	}
	got = nil
	for r := multipart.NewReader(bytes.NewReader(up.Body), params["boundary"]); ; {
		part, err := r.NextRawPart()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		value, _ := io.ReadAll(part)
		got = append(got, part.FormName()+"="+string(value))
	}
	if !slices.Equal(got, want) {
		t.Errorf("multipart: %v, want %v", got, want)
	}
}

func TestDeepBodyBecomesAFormInOnePass(t *testing.T) {
	const depth = 120
	text := `"` + strings.Repeat("x", 1<<20) + `"`
	once := func(body string) time.Duration {
		begin := time.Now()
		if _, status := formed(t, "form", body); status != 200 {
			t.Fatal(status)
		}
		return time.Since(begin)
	}
	// A machine that is busy is slow for a while: what is compared is the best of several rounds.
	for _, nest := range [][2]string{{`{"a":`, `}`}, {`[`, `]`}} {
		flat, deep := time.Hour, time.Hour
		for range 20 {
			flat = min(flat, once(`{"a":`+text+`}`))
			deep = min(deep, once(`{"a":`+strings.Repeat(nest[0], depth)+text+strings.Repeat(nest[1], depth)+`}`))
			if deep <= 10*flat {
				break
			}
		}
		if deep > 10*flat {
			t.Errorf("%s: %v for %d levels, and %v for one", nest[0], deep, depth, flat)
		}
	}
}
