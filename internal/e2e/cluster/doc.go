// Package cluster owns what several nodes must do as one: three processes of the built
// program over one Redis, with clients that reach any of them as through a balancer. Its
// tests have a short form; GATEHOUSE_SOAK=1 selects the long one. It refuses to know
// anything of the program but its Caddyfile, its ports, its processes and what is in Redis.
package cluster
