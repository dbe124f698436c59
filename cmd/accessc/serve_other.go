//go:build !linux

package main

// Run implements the command.
func (c *serveCmd) Run(*globals) error { return usagef("accessc serve is for Linux") }
