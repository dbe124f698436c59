package srt

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"github.com/accessc/accessc/internal/agents/foreign"
	"github.com/accessc/accessc/internal/agents/importer"
	"github.com/accessc/accessc/internal/agents/suite"
)

// For any settings of srt, the result permits nothing that they do not: asked at random places, not at
// those that the proof chooses.
func TestSRTNothingWider(t *testing.T) {
	w := suite.NewWorld(t, Agent.Formats...)
	var done atomic.Int64
	suite.Drawn(t, 2_000, func(r *rand.Rand) error {
		text, patterns := suite.SandboxSettings(r), suite.Pick(r, importer.Existing, importer.Close)
		res, err := w.Run("srt.json", text, patterns)
		if err != nil {
			return fmt.Errorf("%s: %w", text, err)
		}
		done.Add(1)
		return w.Agrees(r, res, text, modelOf(w, text, patterns))
	})
	if done.Load() == 0 {
		t.Error("nothing was imported")
	}
}

// modelOf reads settings without the importer.
func modelOf(w *suite.World, text string, p importer.Patterns) *Model {
	var doc struct {
		Filesystem struct{ DenyRead, AllowRead, AllowWrite, DenyWrite []string }
		Network    struct{ AllowedDomains, DeniedDomains []string }
	}
	if err := json.Unmarshal([]byte(text), &doc); err != nil {
		w.T.Error(err)
	}
	spelled := func(list []string) []foreign.Spelled {
		var out []foreign.Spelled
		for _, s := range list {
			out = append(out, foreign.Spelled{Path: s})
		}
		return out
	}
	return &Model{
		Host:     w.Host(p),
		DenyRead: spelled(doc.Filesystem.DenyRead), AllowRead: spelled(doc.Filesystem.AllowRead),
		AllowWrite: spelled(doc.Filesystem.AllowWrite), DenyWrite: spelled(doc.Filesystem.DenyWrite),
		AllowedDomains: doc.Network.AllowedDomains, DeniedDomains: doc.Network.DeniedDomains,
	}
}
