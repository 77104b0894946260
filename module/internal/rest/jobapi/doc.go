// Package jobapi answers clients about jobs: it submits a job, shows and cancels it, shares the
// places of a queue fairly, and counts and audits what becomes of jobs. It knows nothing of Caddy,
// nor of how a job is carried out.
package jobapi
