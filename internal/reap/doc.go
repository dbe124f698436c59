// Package reap waits for the ends of children that are not trusted: such a child can have its parent trace it, which
// changes what a wait of the parent returns for, and when the child ends after a kill.
package reap
