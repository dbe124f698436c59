// Package rmtree removes directories with everything in them.
package rmtree

import "os"

// Remove removes a directory and everything in it. Of a junction it removes the junction.
func Remove(dir string) error { return os.RemoveAll(dir) }

// RemoveSmall is Remove: there are no bounds here.
func RemoveSmall(dir string, _, _ int) error { return os.RemoveAll(dir) }

// RemoveIn removes a directory below an open directory as Remove does.
func RemoveIn(root *os.Root, name string) error { return root.RemoveAll(name) }
