// Package currentlog has loggers for what outlives a configuration, such as an open store: each line
// goes to the logs of the configuration in force when it is written. A configuration's own logger
// ends with it.
package currentlog
