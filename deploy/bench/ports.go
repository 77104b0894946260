package main

import (
	"fmt"
	"net"
)

// ports hands out consecutive ports on loopback.
type ports struct{ next int }

// claim returns the next address. A port that somebody listens on is refused rather than
// skipped: Caddy shares ports with other processes (SO_REUSEPORT), so one that was forgotten
// would answer a part of the requests.
func (p *ports) claim() (string, error) {
	address := fmt.Sprintf("127.0.0.1:%d", p.next)
	p.next++
	l, err := net.Listen("tcp", address)
	if err != nil {
		return "", fmt.Errorf("%w: end what uses this port, or choose others with -port", err)
	}
	return address, l.Close()
}
