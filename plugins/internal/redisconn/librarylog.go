package redisconn

import (
	"context"
	"fmt"
	"strings"
	"sync"

	goredis "github.com/redis/go-redis/v9"
	"go.uber.org/zap"

	"github.com/gatehouse/gatehouse/module/currentlog"
)

// bridgeLog makes go-redis log through Caddy, at level DEBUG. By itself it writes to stderr, with one
// logger for the whole process. It also returns the errors that it logs, and those are logged where
// they matter.
var bridgeLog = sync.OnceFunc(func() { goredis.SetLogger(libraryLog{currentlog.Logger("gatehouse.redis")}) })

// libraryLog is a logger for go-redis.
type libraryLog struct{ log *zap.Logger }

// Printf logs a message of go-redis.
func (l libraryLog) Printf(_ context.Context, format string, values ...any) {
	if l.log.Core().Enabled(zap.DebugLevel) {
		l.log.Debug(withoutArguments(fmt.Sprintf(format, values...)))
	}
}

// withoutArguments cuts off what a Redis repeats of a command that it does not know: the arguments of
// AUTH and HELLO are passwords.
func withoutArguments(message string) string {
	if at := strings.Index(strings.ToLower(message), "with args beginning with"); at >= 0 {
		return message[:at] + "with arguments"
	}
	return message
}
