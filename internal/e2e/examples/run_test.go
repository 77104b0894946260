package examples

import (
	"testing"

	"github.com/gatehouse/gatehouse/internal/testkit/example"
)

func TestRunReportsATakenPortAndEndsWithItsPrograms(t *testing.T) {
	for _, name := range []string{"machine", "upstream-identity", "old-clients", "web-app", "spa"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := example.Copy(t, name)
			linkPackages(t, e)
			e.RefusesTakenPorts(t)
			e.EndsWithEachProgram(t)
		})
	}
}
