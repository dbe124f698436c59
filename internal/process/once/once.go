// Package once makes values when they are first asked for.
package once

import "sync"

// Value is a value that is made once. Its zero value is ready, so that a variable of a package needs no initialisation,
// which each start of a tool would wait for; the function that sync.OnceValue returns is made then.
// See decision D104.
type Value[T any] struct {
	once  sync.Once
	value T
}

// Get returns the value, which its first call makes. Calls meanwhile wait.
func (v *Value[T]) Get(make func() T) T {
	v.once.Do(func() { v.value = make() })
	return v.value
}
