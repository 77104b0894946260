//go:build unix

package redistest

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// Cluster is a Redis Cluster of three primaries, with a replica each or with none.
type Cluster struct {
	// Nodes are the primaries of the beginning, then the replica of each, if any, in that order.
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
	return newLauncher(t).startCluster(2*clusterPrimaries, args...)
}

// StartPrimaries starts a cluster of three without replicas, and ends them with the test.
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

// joinNodes makes one cluster of the nodes. It does what redis-cli's create does, without its
// pauses.
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

// awaitComplete waits until every slot is served and every replica has its data.
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

// URL names the primaries of the beginning.
func (c *Cluster) URL() string {
	var addrs []string
	for _, n := range c.Nodes[:clusterPrimaries] {
		addrs = append(addrs, n.Addr)
	}
	return "redis+cluster://" + strings.Join(addrs, ",")
}

// FailOverAfter sets for how long a primary has to be silent before its replica takes its place.
func (c *Cluster) FailOverAfter(silence time.Duration) {
	c.t.Helper()
	for _, n := range c.Nodes {
		n.CLI("config", "set", "cluster-node-timeout", strconv.FormatInt(silence.Milliseconds(), 10))
	}
}

// Holder is the primary of the beginning whose part a key belongs to.
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
