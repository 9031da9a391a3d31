// Package terminal tells whether a file is a terminal, which a device such as /dev/null is not.
package terminal
