//go:build !accessc_points

package egress_test

import (
	"testing"

	atpoints "github.com/accessc/accessc/internal/process/points/held"
)

// TestAtPoints runs the tests that hold the proxy between two of its steps.
func TestAtPoints(t *testing.T) { atpoints.Again(t, "^TestHeld") }
