// Package confirm is the page on which somebody who is signed in confirms or denies a request of
// another device, whether its code was scanned or typed. It knows neither how the other device
// began nor how it gets its answer.
package confirm
