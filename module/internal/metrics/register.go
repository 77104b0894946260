package metrics

import (
	"errors"
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
)

// Register makes the set visible in the registry of a configuration. Doing so twice
// with one registry is no error.
func Register(reg prometheus.Registerer) error {
	startAtZero()
	for _, c := range collectors {
		err := reg.Register(c)
		var already prometheus.AlreadyRegisteredError
		if errors.As(err, &already) && already.ExistingCollector == c {
			continue
		}
		if err != nil {
			return fmt.Errorf("metrics: %w", err)
		}
	}
	return nil
}
