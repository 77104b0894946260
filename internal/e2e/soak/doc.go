// Package soak tests what the built program withstands: kill -9 under load, races for one code or token,
// reloads under load, floods; and what it costs compared with bare Caddy. Its tests have a short form;
// GATEHOUSE_SOAK=1 selects the long one. It knows nothing of the program but its Caddyfile, ports and
// process.
package soak
