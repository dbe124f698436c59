//go:build !linux

package main

// Run refuses: no supervisor sees here what a tool changes.
func (c *changesCmd) Run(*globals) error {
	return usagef("accessc changes is for Linux: elsewhere nothing keeps the originals of what a tool changes")
}

// Run refuses, as accessc changes does.
func (c *undoCmd) Run(*globals) error {
	return usagef("accessc undo is for Linux: elsewhere nothing keeps the originals of what a tool changes")
}
