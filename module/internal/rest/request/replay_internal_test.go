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
		again, replayable, release := replayer.Replay(r, most, 0)
		if releases = append(releases, release); replayable != want || len(sent(again)) != most || want && len(sent(again)) != most {
			t.Errorf("body %d: replayable %v", i, replayable)
		}
	}
	own := post(0)
	own.Body, own.ContentLength = InMemory([]byte(strings.Repeat("y", 10*most))), 10*most
	if again, replayable, _ := replayer.Replay(own, most, 0); !replayable || len(sent(again)) != 10*most || len(sent(again)) != 10*most || replayer.kept.Load() != 3*most {
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
		if _, replayable, release := replayer.Replay(r, most, 0); replayable != want {
			t.Errorf("length %d: replayable %v", length, replayable)
		} else {
			release()
		}
	}
	broken := post(0)
	broken.Body, broken.ContentLength = io.NopCloser(iotest.ErrReader(errors.New("gone"))), most
	if again, replayable, _ := replayer.Replay(broken, most, 0); !replayable || sent(again) != "gone" {
		t.Errorf("a body that breaks off: replayable %v", replayable)
	}
}

// What a client only announces takes no room from others.
func TestReplayBufferCountsWhatArrives(t *testing.T) {
	const most = 100
	replayer := &Replayer{most: 2 * most}
	stopped := make(chan struct{})
	for range 5 {
		body, sender := io.Pipe()
		slow := httptest.NewRequest(http.MethodPost, "/a", body)
		slow.ContentLength = most
		go func() {
			_, _, release := replayer.Replay(slow, most, 0)
			release()
			stopped <- struct{}{}
		}()
		if _, err := io.WriteString(sender, "{"); err != nil {
			t.Fatal(err)
		}
		defer func() { <-stopped }()
		defer func() { _ = sender.Close() }()
	}
	r := httptest.NewRequest(http.MethodPost, "/a", io.NopCloser(strings.NewReader(strings.Repeat("x", most))))
	r.ContentLength = most
	if _, replayable, release := replayer.Replay(r, most, 0); !replayable {
		t.Error("there is no room for a body beside slow ones")
	} else {
		release()
	}
}

func TestBodyOfUnknownLengthIsKeptUpToItsLimit(t *testing.T) {
	for _, c := range []struct {
		length, maxBody, maxUnknown int
		want                        bool
	}{
		{99, 1000, 100, true}, {100, 1000, 100, true}, {101, 1000, 100, false}, {5000, 10000, 100, false}, {100, 99, 100, false}, {0, 1000, 100, true}, {1, 1000, 0, false},
	} {
		replayer, text := NewReplayer(1000), strings.Repeat("x", c.length)
		r := httptest.NewRequest(http.MethodPost, "/a", io.NopCloser(iotest.HalfReader(strings.NewReader(text))))
		r.ContentLength = -1
		again, replayable, release := replayer.Replay(r, int64(c.maxBody), int64(c.maxUnknown))
		first, _ := io.ReadAll(again().Body)
		if replayable != c.want || string(first) != text {
			t.Errorf("%+v: replayable %v, %d bytes", c, replayable, len(first))
		}
		if second, _ := io.ReadAll(again().Body); replayable && string(second) != text {
			t.Errorf("%+v: %d bytes the second time", c, len(second))
		}
		if release(); replayer.kept.Load() != 0 {
			t.Errorf("%+v: %d bytes are still kept", c, replayer.kept.Load())
		}
	}
}
