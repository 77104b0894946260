// Package cluster tests several nodes together: three processes of the built program on one Redis, with
// clients that reach any of them as through a load balancer. Its tests have a short form;
// GATEHOUSE_SOAK=1 selects the long one. It knows nothing of the program but its Caddyfile, ports,
// processes and what is in Redis.
package cluster
