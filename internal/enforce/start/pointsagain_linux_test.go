//go:build !accessc_points

package start_test

import (
	"testing"

	"github.com/accessc/accessc/internal/process/points/held"
)

// TestAtPoints runs the tests that hold the supervisor and the loader between two of their steps.
func TestAtPoints(t *testing.T) { held.Again(t, "^TestHeld") }
