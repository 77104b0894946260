package request_test

import (
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/module/internal/rest/request"
)

// part is a form with one part, or more of them in what its boundary is called.
func part(boundary, name string) string {
	return "--" + boundary + "\r\nContent-Disposition: form-data; name=\"" + name + "\"\r\n\r\nx\r\n--" + boundary + "--\r\n"
}

func TestBoundaryIsTheSameForAll(t *testing.T) {
	// within is a form in the only part of another.
	within := func(inner, outer string) string {
		return strings.Replace(part(outer, "a"), "\r\nx\r\n", "\r\n\r\n"+part(inner, "token")+"\r\n", 1)
	}
	for label, c := range map[string]struct {
		body string
		ok   bool
	}{
		"multipart/form-data; boundary=----WebKitFormBoundaryAbC": {part("----WebKitFormBoundaryAbC", "a"), true}, // Chromium, Safari
		"multipart/form-data; boundary=----geckoformboundaryabc":  {part("----geckoformboundaryabc", "a"), true},
		`multipart/form-data; boundary="Boundary_x:y"`:            {part("Boundary_x:y", "a"), true},
		`multipart/form-data; Boundary=B; charset=utf-8`:          {part("B", "a"), true},
		`multipart/form-data; boundary="a,b"`:                     {within("a", "a,b"), false},      // Rack 2.2 reads a
		`multipart/form-data; boundary="\:"`:                      {within(`\:`, ":"), false},       // PHP, Rack, Django and werkzeug keep the backslash
		`multipart/form-data; boundary="boundary=B"`:              {part("boundary=B", "a"), false}, // or B
		`multipart/form-data; x=boundary; boundary=B`:             {part("B", "a"), false},
		`multipart/form-data; boundary=B; x="boundary=B"`:         {part("B", "a"), false},
		`multipart/form-data; boundary =B`:                        {part("B", "a"), false},
	} {
		names, ok := request.PartNames(label, []byte(c.body))
		if ok != c.ok || ok && !slices.Equal(names, []string{"a"}) {
			t.Errorf("%s: %q, %v", label, names, ok)
		}
	}
}

// Each line with this boundary looks like a field in the head of the part before.
func TestHeadsOfPartsTakeNoMoreThanTheBody(t *testing.T) {
	body := []byte(strings.Repeat("--:\r\n", 5_000) + "\r\n\r\n--:--\r\n")
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, ok := request.PartNames(`multipart/form-data; boundary=":"`, body)
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; ok || took > 8<<20 {
		t.Errorf("%v, %d bytes for %d", ok, took, len(body))
	}
}
