// Package soak owns what the built program must stand: kill -9 under load, races
// for one code or token, reloads under load, floods; and what it costs beside bare
// Caddy. Its tests have a short form; GATEHOUSE_SOAK=1 selects the long one. It refuses
// to know anything of the program but its Caddyfile, its ports and its process.
package soak
