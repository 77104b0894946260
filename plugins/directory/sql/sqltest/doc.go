// Package sqltest owns database servers for tests: a real PostgreSQL and a real MariaDB
// of the test process's own, from the system's packages. It knows no users and no
// gateway.
package sqltest
