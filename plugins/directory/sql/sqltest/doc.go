// Package sqltest starts database servers for tests: a real PostgreSQL and a real MariaDB from the
// system's packages, for this test process only.
package sqltest
