// Package consent asks the user what only the user can decide, and remembers it: the targets of external rules, and
// starts of tools that reach sensitive paths. What is shown and what is approved are the same.
package consent
