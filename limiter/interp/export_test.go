package interp

// This file shows the tests the sizes on which no answer depends, and what the table of verbs holds.

const (
	TextBytes   = textBytes
	MaxCommands = maxCommands
	WriteBytes  = writeBytes
)

// Usages returns the usage of each verb in the table.
func Usages() (usages []string) {
	for i := range verbs {
		usages = append(usages, verbs[i].usage())
	}
	return usages
}
