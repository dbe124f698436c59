//go:build !linux

package tool

import "github.com/accessc/accessc/ir"

func newHolder(b *ir.Bindings) (holder, error) { return newRootHolder(b) }
