package compiler

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/accessc/accessc/compiler/diag"
	"github.com/accessc/accessc/compiler/source"
	"github.com/accessc/accessc/ir"
)

// applyLimits merges a limits table key by key.
func (d *draft) applyLimits(s scope, e *source.Entry) {
	t := s.table(e.Value, `a table such as { wall_time = "30s" }`)
	if t == nil {
		return
	}
	var keys []string
	for _, k := range ir.LimitKinds {
		keys = append(keys, k.String())
	}
	s.known(t, "a limits table", keys...)
	for _, k := range ir.LimitKinds {
		if f := t.Entry(k.String()); f != nil {
			if n, ok := s.key(f.Key).limit(k, f.Value); ok {
				d.limits[k] = ir.Limit{Kind: k, Value: n, Origin: s.origin(f.Value.At)}
			}
		}
	}
}

func (s scope) limit(k ir.LimitKind, v *source.Value) (uint64, bool) {
	var n uint64
	var err error
	switch k {
	case ir.LimitMemory, ir.LimitFileSize:
		n, err = size(v)
	case ir.LimitCPUTime, ir.LimitWallTime:
		n, err = duration(v)
	case ir.LimitProcesses, ir.LimitOpenFiles:
		n, err = count(v)
	}
	if err == nil && n == 0 {
		err = errors.New("found nothing at all, expected at least 1")
	}
	if err != nil {
		s.report(diag.BadLimit, v, err.Error())
		return 0, false
	}
	return n, true
}

// units are the suffixes of sizes: powers of 1024 for KiB and K alike, as resource
// limits are usually meant; powers of 1000 for KB, as the SI has it.
var units = []struct {
	suffix string
	bytes  uint64
}{
	{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40},
	{"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12},
	{"K", 1 << 10}, {"M", 1 << 20}, {"G", 1 << 30}, {"T", 1 << 40}, {"B", 1}, {"", 1},
}

func size(v *source.Value) (uint64, error) {
	if v.Kind == source.IntegerKind {
		return count(v)
	}
	if v.Kind != source.StringKind {
		return 0, fmt.Errorf(`found %s, expected a size such as "512MiB"`, v.Kind)
	}
	text := strings.TrimSpace(v.Text)
	for _, u := range units {
		digits, ok := strings.CutSuffix(text, u.suffix)
		if !ok {
			continue
		}
		n, err := strconv.ParseUint(strings.TrimSpace(digits), 10, 64)
		if err != nil {
			break
		}
		if n > math.MaxInt64/u.bytes {
			return 0, errors.New("found a size that does not fit into 63 bits")
		}
		return n * u.bytes, nil
	}
	return 0, fmt.Errorf(`found "%s", expected a size such as "512MiB"`, v.Text)
}

// duration returns milliseconds.
func duration(v *source.Value) (uint64, error) {
	if v.Kind != source.StringKind {
		return 0, fmt.Errorf(`found %s, expected a duration such as "30s"`, v.Kind)
	}
	d, err := time.ParseDuration(v.Text)
	if err != nil {
		return 0, fmt.Errorf(`found "%s", expected a duration such as "30s"`, v.Text)
	}
	if d < time.Millisecond {
		return 0, errors.New("found less than a millisecond")
	}
	return uint64(d.Milliseconds()), nil
}

func count(v *source.Value) (uint64, error) {
	if v.Kind != source.IntegerKind {
		return 0, fmt.Errorf("found %s, expected a whole number", v.Kind)
	}
	if v.Int < 0 {
		return 0, fmt.Errorf("found %d, expected at least 1", v.Int)
	}
	return uint64(v.Int), nil
}
