package livewatch

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/cli/adminclient"
	"github.com/gatehouse/gatehouse/module/internal/watch"
)

const (
	// maxLine bounds a line of the stream, in bytes. A decision has less than 4 KiB.
	maxLine = 64 << 10
	// While a configuration is loaded, the admin endpoint may close connections that it has just accepted.
	reconnectFor   = 10 * time.Second
	reconnectPause = 50 * time.Millisecond
)

// Errors of a stream that the gateway ended.
var (
	errStopping = &adminclient.Error{Exit: adminclient.ExitUnreachable, Code: "stopping", Message: "the gateway has ended, or its configuration has no global option `gatehouse` any more"}
	errBroken   = &adminclient.Error{Exit: adminclient.ExitUnreachable, Code: "broken", Message: "the connection to the gateway broke: it was killed, or did not answer for a minute"}
)

// Sink takes what the stream tells.
type Sink interface {
	// Started is called when nothing is missed from now on; again is true after a reload.
	Started(again bool)
	Decided(d *watch.Decision)
	// Lost says that so many decisions did not reach this watcher.
	Lost(n int64)
}

// Follow reads the stream at path until ctx ends, which is no error, or the gateway does.
func Follow(ctx context.Context, admin *adminclient.Client, path string, to Sink) error {
	for again := false; ; again = true {
		body, cancel, err := open(ctx, admin, path, again)
		if err == nil {
			err = read(body, to, again)
			_ = body.Close()
			cancel()
		}
		if err != nil && (body == nil && !again || ctx.Err() == nil) {
			return err
		}
		if ctx.Err() != nil {
			return nil // the operator or --for has ended it
		}
	}
}

// open begins a stream. After a reload it tries for a while.
func open(ctx context.Context, admin *adminclient.Client, path string, again bool) (io.ReadCloser, func(), error) {
	deadline := time.Now().Add(reconnectFor)
	for {
		res, cancel, err := admin.Download(ctx, path)
		if err == nil {
			return res.Body, cancel, nil
		}
		if !again || ctx.Err() != nil || time.Now().After(deadline) || ended(err) {
			return nil, nil, err
		}
		time.Sleep(reconnectPause)
	}
}

// ended reports whether the answer to a watcher that connects again is final.
func ended(err error) bool {
	e, ok := errors.AsType[*adminclient.Error](err)
	return ok && (e.Code == "not_configured" || e.Code == "stopping")
}

// read returns nil when the next stream begins.
func read(body io.Reader, to Sink, again bool) error {
	in := bufio.NewScanner(body)
	in.Buffer(nil, maxLine)
	for in.Scan() {
		if len(in.Bytes()) == 0 {
			continue
		}
		var line watch.Line
		if err := json.Unmarshal(in.Bytes(), &line); err != nil {
			return errors.New("what answers is no stream of decisions: it may be of another version")
		}
		switch {
		case !line.Started.IsZero():
			to.Started(again)
		case line.Decision != nil:
			to.Decided(line.Decision)
		case line.Lost > 0:
			to.Lost(line.Lost)
		case line.End == watch.EndReload:
			return nil
		case line.End != "":
			return errStopping
		}
	}
	return errBroken
}
