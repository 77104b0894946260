// Package reststore keeps the records of jobs and of Idempotency-Key in the gateway's store. It
// translates keys, values and errors, and knows nothing of what the records mean.
package reststore
