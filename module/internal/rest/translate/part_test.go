package translate

import (
	"strings"
	"testing"
)

// The gateway never asks for a part of what it edits: from one, what is dropped could not be left out.
func TestPartOfWhatIsEditedIsRefused(t *testing.T) {
	const body = `{"pin":"hidden"}`
	parts := []map[string]string{
		{"Content-Type": jsonType, "Content-Range": "bytes 1-15/16"}, {"Content-Type": jsonType, "Content-Range": "Bytes 0-15/16"},
		{"Content-Type": "multipart/byteranges; boundary=x"}, {"Content-Type": htmlLabel, "Content-Range": "bytes 0-15/16"}, {"Content-Type": jsonType}, {},
	}
	all := private
	all.Pass = []string{"image/*", "text/html", "multipart/*"}
	off := all
	off.Off = []string{"deleted"}
	for _, header := range parts {
		for _, target := range []string{"GET /things/1", "PUT /things/1", "POST /things", "DELETE /things/1"} {
			method, path, _ := strings.Cut(target, " ")
			if method != "GET" && header["Content-Range"] == "" && header["Content-Type"] != "multipart/byteranges; boundary=x" {
				continue // 206 is a success of some kind, and its whole body is edited
			}
			g := through(Config{Answer: answerTo(t, all, method, path)}, 206, header, body, 4)
			g.w.Settle()
			if strings.Contains(g.Body.String(), "hidden") || (method == "GET") != (g.failure != nil) || method == "GET" && (g.w.Committed() || !strings.Contains(g.failure.Error(), "206")) || g.Code == 206 {
				t.Errorf("%s %v: %v %d %s", target, header, g.failure, g.Code, g.Body)
			}
		}
		if g := through(Config{Answer: answerTo(t, off, "DELETE", "/things/1")}, 206, header, body, 4); strings.Contains(g.Body.String(), "hidden") {
			t.Errorf("%v: %s", header, g.Body)
		}
	}
	image := map[string]string{"Content-Type": "image/png", "Content-Range": "bytes 0-15/16"}
	if g := through(Config{Answer: answerTo(t, all, "GET", "/things/1")}, 206, image, body, 4); g.Code != 206 || g.Body.String() != body {
		t.Errorf("a type that passes: %v %d %s", g.failure, g.Code, g.Body)
	}
	if g := through(Config{Answer: answerTo(t, plainThings, "GET", "/things/1")}, 206, parts[0], body, 4); g.Code != 206 || g.Body.String() != body {
		t.Errorf("where nothing is declared: %v %d %s", g.failure, g.Code, g.Body)
	}
}
