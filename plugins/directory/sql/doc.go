// Package sql is the user directory gatehouse.directories.sql: users in a PostgreSQL, MariaDB or MySQL database of
// another program. It maps a row to a user and binds a single parameter; the operator's queries know the tables.
package sql
