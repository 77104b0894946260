package mapping

import (
	"fmt"
	"runtime"

	"github.com/gatehouse/gatehouse/module/internal/rest/turns"
	"github.com/gatehouse/gatehouse/module/rest/envelope"
)

// largeBody is how many bytes of a body are encoded without waiting for a turn.
const largeBody = 64 << 10

// largeTurns are the turns of large bodies, for all operations together: 1 MB becomes up to 17 MiB, and takes a processor for
// as long as a hundred other requests. What waits is the client's body, with the places of its members.
var largeTurns = turns.New(runtime.GOMAXPROCS(0))

// takeTurn waits for the turn of a body that is encoded in another form than JSON. The caller calls done to end it.
func takeTurn(a Asked) (done func(), refused *envelope.Refusal) {
	if len(a.Body) <= largeBody {
		return func() {}, nil
	}
	done, err := largeTurns.Take(a.Caller)
	if err != nil {
		return nil, envelope.Unavailable(fmt.Errorf("encoding a large body: %w", err))
	}
	return done, nil
}
