// Package turns bounds how much costly work is done at once, and how much waits for it, and shares both fairly among
// clients and their users. It does not know what the work is. Package fairshare does the same among networks.
package turns
