// Package reap waits for the ends of children that are not trusted: such a child can have its parent trace it. Then a
// wait of the parent returns for stops as well, and a killed child may not end by itself.
package reap
