//go:build unix

package redistest

import (
	"fmt"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// Cluster is a Redis Cluster of three primaries with a replica each.
type Cluster struct {
	// Nodes are the primaries of the beginning, then the replica of each, in that order.
	Nodes []*Server

	t testing.TB
}

const (
	clusterPrimaries = 3
	clusterSlots     = 16384
)

// StartCluster starts the six, and ends them with the test. args are more options of each.
func StartCluster(t testing.TB, args ...string) *Cluster {
	t.Helper()
	c, err := beginCluster(t.TempDir(), args...)
	c.t = t
	t.Cleanup(c.stopAll)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range c.Nodes {
		n.t = t
	}
	return c
}

// beginCluster returns what it started, also with an error.
func beginCluster(dir string, args ...string) (*Cluster, error) {
	c := new(Cluster)
	more := append([]string{"--cluster-enabled", "yes", "--cluster-node-timeout", "1000", "--repl-diskless-sync-delay", "0"}, args...)
	for range 2 * clusterPrimaries {
		n, err := startServer(dir, nil, more...)
		if err != nil {
			return c, err
		}
		c.Nodes = append(c.Nodes, n)
	}
	return c, c.joinNodes()
}

// joinNodes makes one cluster of the nodes. It does what redis-cli's create does, without its
// pauses.
func (c *Cluster) joinNodes() error {
	ids := make([]string, len(c.Nodes))
	for i, n := range c.Nodes {
		var err error
		if ids[i], err = runCLI(n.Addr, "cluster", "myid"); err != nil {
			return err
		}
		if _, err := runCLI(n.Addr, "cluster", "set-config-epoch", strconv.Itoa(i+1)); err != nil {
			return err
		}
	}
	for i, n := range c.Nodes[:clusterPrimaries] {
		from, to := clusterSlots*i/clusterPrimaries, clusterSlots*(i+1)/clusterPrimaries-1
		if _, err := runCLI(n.Addr, "cluster", "addslotsrange", strconv.Itoa(from), strconv.Itoa(to)); err != nil {
			return err
		}
	}
	host, port, _ := strings.Cut(c.Nodes[0].Addr, ":")
	bus, err := runCLI(c.Nodes[0].Addr, "config", "get", "cluster-port")
	if err != nil {
		return err
	}
	_, bus, _ = strings.Cut(bus, "\n")
	for _, n := range c.Nodes[1:] {
		if _, err := runCLI(n.Addr, "cluster", "meet", host, port, bus); err != nil {
			return err
		}
	}
	if err := awaitCondition("all nodes know each other", func() bool {
		return c.allServers(func(n *Server) bool {
			out, err := runCLI(n.Addr, "cluster", "nodes")
			return err == nil && strings.Count(out, "connected") == len(c.Nodes) && !strings.Contains(out, "handshake") && !strings.Contains(out, "disconnected")
		})
	}); err != nil {
		return err
	}
	for i, n := range c.Nodes[clusterPrimaries:] {
		if _, err := runCLI(n.Addr, "cluster", "replicate", ids[i]); err != nil {
			return err
		}
	}
	return c.awaitComplete()
}

// awaitComplete waits until every slot is served and every replica has its data.
func (c *Cluster) awaitComplete() error {
	return awaitCondition("the cluster is whole", func() bool {
		for _, n := range c.Nodes[clusterPrimaries:] {
			if infoLine(n, "master_link_status") != "up" {
				return false
			}
		}
		return c.allServers(func(n *Server) bool {
			state, err := runCLI(n.Addr, "cluster", "info")
			nodes, failed := runCLI(n.Addr, "cluster", "nodes")
			return err == nil && failed == nil && strings.Contains(state, "cluster_state:ok") && strings.Count(nodes, "slave") == clusterPrimaries
		})
	})
}

func (c *Cluster) allServers(so func(*Server) bool) bool {
	for _, n := range c.Nodes {
		if !so(n) {
			return false
		}
	}
	return true
}

// URL names the primaries of the beginning.
func (c *Cluster) URL() string {
	var addrs []string
	for _, n := range c.Nodes[:clusterPrimaries] {
		addrs = append(addrs, n.Addr)
	}
	return "redis+cluster://" + strings.Join(addrs, ",")
}

// Holder is the primary of the beginning whose part a key belongs to.
func (c *Cluster) Holder(key string) *Server {
	c.t.Helper()
	slot, err := strconv.Atoi(c.Nodes[0].CLI("cluster", "keyslot", key))
	if err != nil {
		c.t.Fatal(err)
	}
	for i := range clusterPrimaries {
		if slot < clusterSlots*(i+1)/clusterPrimaries {
			return c.Nodes[i]
		}
	}
	c.t.Fatal(fmt.Errorf("slot %d is nobody's", slot))
	return nil
}

func (c *Cluster) stopAll() {
	for _, n := range c.Nodes {
		_ = n.stopWith(syscall.SIGKILL)
	}
}
