package redis

import (
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/module/ratelimit"
)

// A subject that holds the beginning of the next key reads like another pair of subjects:
// taken for them, its requests would be counted for a stranger.
func TestSubjectThatLooksLikeAKeyIsDistinct(t *testing.T) {
	ask := func(first, second string) *encodedRequest {
		return encodeRequest("limit:{l}", &ratelimit.Request{Charges: []ratelimit.Charge{one("a", 1, time.Second, first), one("b", 1, time.Second, second)}}, keyBudget{})
	}
	const begin = "limit:{l}b:1000x60:"
	left, right := ask("x", "y"+begin+"z"), ask("x"+begin+"y", "z")
	if left.charges[0].key+left.charges[1].key != right.charges[0].key+right.charges[1].key {
		t.Fatal("the test no longer makes two that look alike")
	}
	if left.vector == right.vector {
		t.Fatal("two requests for different subjects are taken for alike")
	}
}
