package redisconn

import (
	"os"
	"strings"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/gatehouse/gatehouse/internal/testkit/redistest"
)

// sentinelRights are what the documentation says a user needs at the Sentinels.
const sentinelRights = "resetchannels &+switch-master &+replica-reconf-done +hello +auth +ping +subscribe +sentinel|get-master-addr-by-name +sentinel|sentinels"

func TestDocumentedSentinelRightsAreTheTestedOnes(t *testing.T) {
	doc, err := os.ReadFile("../../../deploy/README.md")
	text := strings.Join(strings.Fields(string(doc)), " ")
	if err != nil || !strings.Contains(text, "`"+sentinelRights+"`") {
		t.Errorf("it says something else: %v", err)
	}
}

// A failover is what a user at the Sentinels is for: it is told of it, and asks who is next.
func TestDocumentedSentinelRightsSuffice(t *testing.T) {
	s := redistest.StartSentinel(t)
	s.Tell(append([]string{"acl", "setuser", "watch", "reset", "on", ">pass"}, strings.Fields(sentinelRights)...)...)
	s.Tell("acl", "log", "reset")
	client := connect(t, Config{URL: s.URL(), SentinelUsername: "watch", SentinelPassword: "pass"})
	write := func() error { return client.Set(t.Context(), "k", "v", time.Minute).Err() }
	if err := write(); err != nil {
		t.Fatal(err)
	}
	if n := len(strings.Split(strings.Join(s.Tell("client", "list"), "\n"), " user=watch ")) - 1; n == 0 {
		t.Error("no Sentinel is asked as the user")
	}
	s.WaitPromoted(s.KillPrimary())
	for deadline := time.Now().Add(5 * time.Second); write() != nil; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the new primary is not found")
		}
	}
	for _, denied := range s.Tell("acl", "log") {
		if denied != "" {
			t.Errorf("it needs more: %s", denied)
		}
	}
	sentinel, _, _ := strings.Cut(strings.TrimPrefix(s.URL(), "redis+sentinel://"), ",")
	watch := goredis.NewClient(&goredis.Options{Addr: sentinel, Username: "watch", Password: "pass", Protocol: 2, DisableIdentity: true, MaxRetries: -1})
	t.Cleanup(func() { _ = watch.Close() })
	for _, args := range [][]any{{"sentinel", "failover", "gatehouse"}, {"sentinel", "remove", "gatehouse"}, {"acl", "list"}, {"subscribe", "+sdown"}} {
		if err := watch.Do(t.Context(), args...).Err(); err == nil || !strings.Contains(err.Error(), "NOPERM") {
			t.Errorf("it may do %v: %v", args, err)
		}
	}
}
