// Package suggest finds the word that was probably meant by a misspelt word.
package suggest

import "strings"

// Hint asks whether the nearest of the words was meant, as in: did you mean "read"? It is empty if
// none is near.
func Hint(found string, words []string) string {
	best, least := "", 3
	for _, w := range words {
		if d := distance(strings.ToLower(found), w); d < least && d < len(w) {
			best, least = w, d
		}
	}
	if best == "" {
		return ""
	}
	return `did you mean "` + best + `"?`
}

// Near reports whether a word becomes another by at most some edits: a letter more, fewer or another, or two
// neighbours swapped.
func Near(found, word string, edits int) bool { return distance(found, word) <= edits }

// distance is the optimal string alignment distance: insertions, deletions,
// substitutions and swaps of neighbours.
func distance(a, b string) int {
	prev2, prev := []int(nil), make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row := make([]int, len(b)+1)
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(prev[j]+1, row[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], prev2[j-2]+1)
			}
		}
		prev2, prev = prev, row
	}
	return prev[len(b)]
}
