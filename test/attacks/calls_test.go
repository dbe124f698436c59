//go:build linux

package attacks_test

import "testing"

// TestCalls plays attacks by calls beside those that open, make and move files.
func TestCalls(t *testing.T) {
	run(t, []scene{
		{
			// Landlock has no right for watches: they were left to the kernel.
			name:    "watches of names",
			denied:  []string{"read secrets", "read .env", "read /tmp", "read /"},
			allowed: []string{"read src"},
			tool:    "watch",
			good:    []string{"watch"},
		},
	})
}
