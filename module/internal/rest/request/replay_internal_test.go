package request

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/iotest"
)

func TestReplayBufferIsLimited(t *testing.T) { // R12
	const most = 100
	replayer := &Replayer{most: 250}
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
		again, replayable, release := replayer.Replay(r, most)
		if releases = append(releases, release); replayable != want || len(sent(again)) != most || want && len(sent(again)) != most {
			t.Errorf("body %d: replayable %v", i, replayable)
		}
	}
	own := post(0)
	own.Body, own.ContentLength = InMemory([]byte(strings.Repeat("y", 10*most))), 10*most
	if again, replayable, _ := replayer.Replay(own, most); !replayable || len(sent(again)) != 10*most || len(sent(again)) != 10*most || replayer.kept.Load() != 2*most {
		t.Errorf("a body in memory: replayable %v, %d bytes are kept", replayable, replayer.kept.Load())
	}
	for _, release := range releases {
		release()
	}
	if n := replayer.kept.Load(); n != 0 {
		t.Errorf("%d bytes are still kept after the release", n)
	}
	for length, want := range map[int64]bool{most: true, most + 1: false, -1: false} {
		r := post(most + 1)
		r.ContentLength = length
		if _, replayable, release := replayer.Replay(r, most); replayable != want {
			t.Errorf("length %d: replayable %v", length, replayable)
		} else {
			release()
		}
	}
	broken := post(0)
	broken.Body, broken.ContentLength = io.NopCloser(iotest.ErrReader(errors.New("gone"))), most
	if again, replayable, _ := replayer.Replay(broken, most); !replayable || sent(again) != "gone" {
		t.Errorf("a body that breaks off: replayable %v", replayable)
	}
}
