// Package currentlog provides loggers for objects that outlive a configuration, such as an open store:
// each line goes to the logs of the configuration in force when it is written. The logger of a
// configuration stops working when that configuration ends.
package currentlog
