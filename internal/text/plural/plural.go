// Package plural counts things in messages.
package plural

import "strconv"

// Count returns a number with its noun, which takes an s.
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}
