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

// bridgeLog has go-redis log through Caddy at level DEBUG. Its logger is one for the whole process
// and writes its own lines to stderr. The errors that it returns say the same, and those are logged
// where they matter.
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
