package harness

import (
	"bytes"
	"sync"
	"testing"
)

// FailOn ends the test if err is not nil.
func FailOn(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Output keeps the end of what is written to it. It is safe for concurrent use.
type Output struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

const outputSize = 64 << 10

// Write implements io.Writer.
func (o *Output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.buf.Write(b)
	if extra := o.buf.Len() - outputSize; extra > 0 {
		o.buf.Next(extra)
	}
	return len(b), nil
}

func (o *Output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.String()
}
