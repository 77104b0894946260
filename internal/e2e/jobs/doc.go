// Package jobs tests jobs over HTTP: gateways, in this process and in processes of
// their own, in front of an API that takes its time, with files to be fetched.
package jobs
