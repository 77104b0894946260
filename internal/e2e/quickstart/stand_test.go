package quickstart

import (
	"testing"

	"github.com/gatehouse/gatehouse/internal/testkit/example"
)

// stand is the quick start, running.
type stand struct {
	*example.Example
	// The addresses, without a slash at the end.
	issuer, api, reader, legacy, admin string
}

func prepare(t *testing.T) *example.Example {
	t.Helper()
	return example.Copy(t, "quickstart", "legacy", "quickstart/reader")
}

// start runs the quick start until the end of the test, which waits for programs of its own
// beside others.
func start(t *testing.T) *stand {
	t.Helper()
	t.Parallel()
	return startAlone(t)
}

// startAlone is start for a test that needs the machine itself.
func startAlone(t *testing.T) *stand {
	t.Helper()
	return begun(t, prepare(t))
}

// begun starts a quick start that was prepared.
func begun(t *testing.T, e *example.Example) *stand {
	t.Helper()
	e.Start(t)
	return &stand{
		e, e.At("http://localhost:8080"), e.At("http://localhost:8081"), e.At("http://localhost:8082"),
		e.At("http://127.0.0.1:8083"), e.At("http://localhost:2019"),
	}
}
