// Package denials is the report of what the last run of a tool was refused: each operation with the rule that decided,
// and with the addition that package allow proposes for it, as text and as JSON.
package denials
