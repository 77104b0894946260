package redisconn

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"strings"
	"sync"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// Tuning says how long to wait and how many connections to hold.
type Tuning struct {
	// Dial bounds connecting and the TLS handshake. Required.
	Dial time.Duration
	// Timeout bounds one reading and one writing. Required.
	Timeout time.Duration
	// Connections is the most that are open to each server. 0: 10 for each processor.
	Connections int
	// OnConnect, if any, is called for each new connection.
	OnConnect func()
}

const keepAlive = 15 * time.Second

// silence: go-redis has one logger for the process, which writes lines of its own to
// stderr. All it says comes back in errors too, and those are cleaned of passwords.
var silence = sync.OnceFunc(logging.Disable)

// Open makes a client. It dials nothing: the first command does. Nothing is retried,
// since a write whose answer was lost may have taken effect; run scripts with
// [Script.Run], which follows a cluster's redirections all the same.
func (s Settings) Open(t Tuning) (goredis.UniversalClient, error) {
	if t.Dial <= 0 || t.Timeout <= 0 || s.nodes == "" {
		return nil, errors.New("redis: the timeouts and an address are required")
	}
	config, err := s.tlsConfig()
	if err != nil {
		return nil, err
	}
	silence()
	o := &goredis.UniversalOptions{
		Addrs:                    strings.Split(s.nodes, ","),
		MasterName:               s.master,
		DB:                       s.db,
		IsClusterMode:            s.mode == cluster,
		Username:                 s.username,
		Password:                 revealText(s.password),
		SentinelUsername:         s.sentinelUsername,
		SentinelPassword:         revealText(s.sentinelPassword),
		Dialer:                   newDialer(s.network, config, t),
		Protocol:                 2, // pub/sub and scripts need no more, and every proxy speaks it
		MaxRetries:               -1,
		MaxRedirects:             3,
		MinRetryBackoff:          time.Millisecond,
		MaxRetryBackoff:          20 * time.Millisecond,
		DialTimeout:              t.Dial,
		DialerRetries:            1,
		DialerRetryTimeout:       time.Millisecond,
		ReadTimeout:              t.Timeout,
		WriteTimeout:             t.Timeout,
		PoolTimeout:              t.Timeout,
		ContextTimeoutEnabled:    true,
		PoolSize:                 t.Connections,
		PipelinePoolSize:         -1,
		ConnMaxIdleTime:          5 * time.Minute,
		DisableIdentity:          true,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	}
	return goredis.NewUniversalClient(o), nil
}

// newDialer bounds the handshake of TLS as well, which go-redis leaves to the next timeout.
func newDialer(n *Network, config *tls.Config, t Tuning) func(ctx context.Context, network, address string) (net.Conn, error) {
	plain := &net.Dialer{Timeout: t.Dial, KeepAlive: keepAlive}
	dial := plain.DialContext
	switch {
	case n != nil:
		dial = n.Dial
	case config != nil:
		dial = (&tls.Dialer{NetDialer: plain, Config: config}).DialContext
	}
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		ctx, cancel := context.WithTimeout(ctx, t.Dial)
		defer cancel()
		conn, err := dial(ctx, network, address)
		if err == nil && t.OnConnect != nil {
			t.OnConnect()
		}
		return conn, err
	}
}
