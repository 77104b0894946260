package mapping

import "github.com/gatehouse/gatehouse/module/internal/rest/turns"

// SetLargeTurns replaces the turns of large bodies until restore is called.
func SetLargeTurns(t *turns.Turns) (restore func()) {
	before := largeTurns
	largeTurns = t
	return func() { largeTurns = before }
}
