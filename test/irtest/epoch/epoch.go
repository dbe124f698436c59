// Package epoch gives every random test its seed: a function of the test's name and of a constant
// of the repository, so that two runs of one commit draw the same. With ACCESSC_SEED=random, as
// task soak has it, seeds are fresh; with ACCESSC_SEED=N the seed is N, to repeat what a soak
// printed. Tests may import it, the product may not. It says nothing of what the scheduler or
// the host add by themselves.
package epoch

import (
	cryptorand "crypto/rand"
	"encoding/binary"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// Epoch is what all seeds of the gate depend on. A commit of its own changes it when the gate
// is to draw other cases; the kinds that tests demand have to be found again by then.
const Epoch = "2026-11"

// variable chooses the seeds: unset for those of the epoch, "random", or a number.
const variable = "ACCESSC_SEED"

// Fresh reports whether seeds are fresh: a soak, not the gate.
func Fresh() bool { return os.Getenv(variable) == "random" }

// Fixed reports whether seeds are those of the epoch, so that counts are the same in every run.
func Fixed() bool { return os.Getenv(variable) == "" }

// Seed is the seed of a test. A soak that fails keeps it in testdata/seeds, where Seeds finds it.
func Seed(t testing.TB) uint64 {
	switch v := os.Getenv(variable); v {
	case "":
		return of(t.Name())
	case "random":
		var b [8]byte
		_, _ = cryptorand.Read(b[:]) // never fails
		seed := binary.LittleEndian.Uint64(b[:])
		t.Cleanup(func() {
			if t.Failed() {
				keep(t, seed)
			}
		})
		return seed
	default:
		seed, err := strconv.ParseUint(v, 10, 64)
		if err != nil {
			t.Fatalf("%s=%q is neither random nor a number", variable, v)
		}
		return seed
	}
}

// of is the seed of a name in this epoch.
func of(name string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(Epoch + "\x00" + name))
	return h.Sum64()
}

// Rand is a source from the seed of a test. Tests with several goroutines give each a source of its
// own, by Source.
func Rand(t testing.TB) *rand.Rand { return Source(Seed(t), 0) }

// Source is the i-th source of a seed.
func Source(seed, i uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, i)) }

// Seeds are the seeds with which a test that is no property of rapid's runs: first those with which
// a soak once failed, then the test's own.
func Seeds(t testing.TB) []uint64 {
	t.Helper()
	var seeds []uint64
	data, err := os.ReadFile(kept(t))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	for _, word := range strings.Fields(string(data)) {
		seed, err := strconv.ParseUint(word, 10, 64)
		if err != nil {
			t.Fatalf("%s: %v", kept(t), err)
		}
		seeds = append(seeds, seed)
	}
	return append(seeds, Seed(t))
}

// kept is the file of the seeds with which a test once failed.
func kept(t testing.TB) string {
	return filepath.Join("testdata", "seeds", strings.ReplaceAll(t.Name(), "/", "_"))
}

// keep adds a seed to those of a test.
func keep(t testing.TB, seed uint64) {
	name, line := kept(t), strconv.FormatUint(seed, 10)
	old, _ := os.ReadFile(name)
	if slices.Contains(strings.Fields(string(old)), line) {
		return
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Log(err)
		return
	}
	if err := os.WriteFile(name, append(old, line+"\n"...), 0o644); err != nil {
		t.Log(err)
		return
	}
	t.Logf("the seed is kept in %s", name)
}
