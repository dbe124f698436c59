// Package sbpl evaluates profiles of the macOS sandbox: it reads the text that
// backends/seatbelt writes, and profiles of others, and answers which operations they permit.
// Tests compare its answers with the policy.
//
// It reads a profile by two published precedences at once; where they disagree the answer is an
// error. Text that it does not understand is an error as well.
package sbpl
