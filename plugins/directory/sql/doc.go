// Package sql is the user directory gatehouse.directories.sql: users in a PostgreSQL,
// MariaDB or MySQL database that another program keeps. It owns the way from a row to a
// user and binds nothing but one parameter; it refuses to know tables: the operator's
// queries do.
package sql
