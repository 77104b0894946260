// Package outage tests a node whose store or limiter is unreachable, or different after a reload: what it
// reports, what it responds, and what it keeps. It contains only tests.
package outage
