// Package confirm has the pages of the second device: on one a user types the short code of a device (RFC 8628), on the
// other a user who is signed in confirms or denies the request of the first device, whether its code was scanned or
// typed. It knows neither how the first device began nor how it gets its answer.
package confirm
