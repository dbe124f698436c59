//go:build !accessc_points

package undo

import (
	"testing"

	"github.com/accessc/accessc/internal/process/points/held"
)

// TestAtPoints runs the tests that kill an undo between two of its steps.
func TestAtPoints(t *testing.T) { held.Again(t, "^TestHeld") }
