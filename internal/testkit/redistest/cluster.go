//go:build unix

package redistest

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// Cluster is a Redis Cluster of three primaries, with one replica each or none.
type Cluster struct {
	// Nodes are the original primaries, followed by their replicas, if any, in the same order.
	Nodes []*Server

	t testing.TB
}

const (
	clusterPrimaries = 3
	clusterSlots     = 16384
)

// StartCluster starts three primaries and three replicas, and stops them when the test ends. args are further options
// of each server.
func StartCluster(t testing.TB, args ...string) *Cluster {
	t.Helper()
	return newLauncher(t).startCluster(2*clusterPrimaries, args...)
}

// StartPrimaries starts a cluster of three primaries without replicas, and stops it when the test ends.
func StartPrimaries(t testing.TB) *Cluster {
	t.Helper()
	return newLauncher(t).startCluster(clusterPrimaries)
}

func (l launcher) startCluster(servers int, args ...string) *Cluster {
	l.t.Helper()
	c := &Cluster{t: l.t}
	more := append([]string{"--cluster-enabled", "yes", "--cluster-node-timeout", "1000", "--repl-diskless-sync-delay", "0"}, args...)
	for range servers {
		c.Nodes = append(c.Nodes, l.startServer(nil, more...))
	}
	c.joinNodes()
	return c
}

// joinNodes forms a cluster, as redis-cli --cluster create does, but without its pauses.
func (c *Cluster) joinNodes() {
	c.t.Helper()
	ids := make([]string, len(c.Nodes))
	for i, n := range c.Nodes {
		ids[i] = n.CLI("cluster", "myid")
		n.CLI("cluster", "set-config-epoch", strconv.Itoa(i+1))
	}
	for i, n := range c.Nodes[:clusterPrimaries] {
		from, to := clusterSlots*i/clusterPrimaries, clusterSlots*(i+1)/clusterPrimaries-1
		n.CLI("cluster", "addslotsrange", strconv.Itoa(from), strconv.Itoa(to))
	}
	host, port, _ := strings.Cut(c.Nodes[0].Addr, ":")
	_, bus, _ := strings.Cut(c.Nodes[0].CLI("config", "get", "cluster-port"), "\n")
	for _, n := range c.Nodes[1:] {
		n.CLI("cluster", "meet", host, port, bus)
	}
	awaitCondition(c.t, "all nodes know each other", func() bool {
		return c.allServers(func(n *Server) bool {
			out, err := runCLI(n.Addr, "cluster", "nodes")
			return err == nil && strings.Count(out, "connected") == len(c.Nodes) && !strings.Contains(out, "handshake") && !strings.Contains(out, "disconnected")
		})
	})
	for i, n := range c.Nodes[clusterPrimaries:] {
		n.CLI("cluster", "replicate", ids[i])
	}
	c.awaitComplete()
}

// awaitComplete waits until every slot is served and every replica is in sync.
func (c *Cluster) awaitComplete() {
	c.t.Helper()
	awaitCondition(c.t, "the cluster is whole", func() bool {
		for _, n := range c.Nodes[clusterPrimaries:] {
			if infoLine(n, "master_link_status") != "up" {
				return false
			}
		}
		return c.allServers(func(n *Server) bool {
			state, err := runCLI(n.Addr, "cluster", "info")
			nodes, failed := runCLI(n.Addr, "cluster", "nodes")
			return err == nil && failed == nil && strings.Contains(state, "cluster_state:ok") && strings.Count(nodes, "slave") == len(c.Nodes)-clusterPrimaries
		})
	})
}

func (c *Cluster) allServers(so func(*Server) bool) bool {
	return !slices.ContainsFunc(c.Nodes, func(n *Server) bool { return !so(n) })
}

// URL returns the address of the cluster, by its original primaries.
func (c *Cluster) URL() string {
	var addrs []string
	for _, n := range c.Nodes[:clusterPrimaries] {
		addrs = append(addrs, n.Addr)
	}
	return "redis+cluster://" + strings.Join(addrs, ",")
}

// FailOverAfter sets how long a primary must be silent before its replica replaces it.
func (c *Cluster) FailOverAfter(silence time.Duration) {
	c.t.Helper()
	for _, n := range c.Nodes {
		n.CLI("config", "set", "cluster-node-timeout", strconv.FormatInt(silence.Milliseconds(), 10))
	}
}

// Holder returns the original primary that has the slot of a key.
func (c *Cluster) Holder(key string) *Server {
	c.t.Helper()
	slot, err := strconv.Atoi(c.Nodes[0].CLI("cluster", "keyslot", key))
	failOn(c.t, err)
	for i := range clusterPrimaries {
		if slot < clusterSlots*(i+1)/clusterPrimaries {
			return c.Nodes[i]
		}
	}
	c.t.Fatalf("slot %d is nobody's", slot)
	return nil
}
