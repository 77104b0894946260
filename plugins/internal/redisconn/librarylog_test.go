package redisconn

import (
	"context"
	"errors"
	"strings"
	"testing"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"
)

func TestGoRedisLogHidesPasswords(t *testing.T) {
	core, lines := observer.New(zap.DebugLevel)
	l := libraryLog{zap.New(core)}
	l.Printf(t.Context(), "sentinel: GetMasterAddrByName name=%q failed: %s", "main", errors.New("ERR unknown command 'HELLO', with args beginning with: '2' 'AUTH' 'gate' 'hush' "))
	l.Printf(context.Background(), "Conn has unread data: %d", 7)
	all := lines.All()
	if len(all) != 2 || strings.Contains(all[0].Message, "hush") || !strings.HasSuffix(all[0].Message, "unknown command 'HELLO', with arguments") || all[1].Message != "Conn has unread data: 7" {
		t.Errorf("%v", all)
	}
	quiet, none := observer.New(zap.InfoLevel)
	libraryLog{zap.New(quiet)}.Printf(t.Context(), "hello")
	if none.Len() != 0 {
		t.Error("it is logged above DEBUG")
	}
}
