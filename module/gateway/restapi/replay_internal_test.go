package restapi

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/iotest"
)

func TestTheBodiesThatAreHeldAreBounded(t *testing.T) { // R12
	const most = 100
	held := &heldBodies{most: 250}
	post := func(n int) *http.Request {
		return httptest.NewRequest(http.MethodPost, "/a", io.NopCloser(strings.NewReader(strings.Repeat("x", n))))
	}
	sent := func(again func() *http.Request) string {
		body, err := io.ReadAll(again().Body)
		if err != nil {
			return err.Error()
		}
		return string(body)
	}
	var releases []func()
	for i, want := range []bool{true, true, false} { // the third is too many
		r := post(most)
		r.ContentLength = most
		again, replayable, release := held.replay(r, most)
		if releases = append(releases, release); replayable != want || len(sent(again)) != most || want && len(sent(again)) != most {
			t.Errorf("body %d: repeatable %v", i, replayable)
		}
	}
	own := post(0)
	own.Body, own.ContentLength = inMemory([]byte(strings.Repeat("y", 10*most))), 10*most
	if again, replayable, _ := held.replay(own, most); !replayable || len(sent(again)) != 10*most || len(sent(again)) != 10*most || held.bytes.Load() != 2*most {
		t.Errorf("what the gateway has in memory anyway: repeatable %v, %d bytes are held", replayable, held.bytes.Load())
	}
	for _, release := range releases {
		release()
	}
	if n := held.bytes.Load(); n != 0 {
		t.Errorf("%d bytes are held by nobody", n)
	}
	for length, want := range map[int64]bool{most: true, most + 1: false, -1: false} {
		r := post(most + 1)
		r.ContentLength = length
		if _, replayable, release := held.replay(r, most); replayable != want {
			t.Errorf("length %d: repeatable %v", length, replayable)
		} else {
			release()
		}
	}
	broken := post(0)
	broken.Body, broken.ContentLength = io.NopCloser(iotest.ErrReader(errors.New("gone"))), most
	if again, replayable, _ := held.replay(broken, most); !replayable || sent(again) != "gone" {
		t.Errorf("a body that breaks off: repeatable %v", replayable)
	}
}
