package explain

import (
	"strconv"
	"strings"
	"time"

	"github.com/accessc/accessc/ir"
)

func limitText(l ir.Limit) string {
	switch l.Kind {
	case ir.LimitCPUTime, ir.LimitWallTime:
		return duration(time.Duration(l.Value) * time.Millisecond)
	case ir.LimitMemory, ir.LimitFileSize:
		return size(l.Value)
	case ir.LimitProcesses, ir.LimitOpenFiles:
		return strconv.FormatUint(l.Value, 10)
	default:
		return strconv.FormatUint(l.Value, 10)
	}
}

// duration writes 5m where the standard form is 5m0s.
func duration(d time.Duration) string {
	text := d.String()
	for _, zero := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(text, zero) {
			text = text[:len(text)-2]
		}
	}
	return text
}

// size writes a number of bytes in the unit that says it exactly in the fewest digits.
func size(n uint64) string {
	out := strconv.FormatUint(n, 10) + " bytes"
	for _, base := range []struct {
		step  uint64
		units []string
	}{{1024, []string{"KiB", "MiB", "GiB", "TiB"}}, {1000, []string{"KB", "MB", "GB", "TB"}}} {
		left := n
		for _, unit := range base.units {
			if left == 0 || left%base.step != 0 {
				break
			}
			left /= base.step
			if text := strconv.FormatUint(left, 10) + unit; len(text) < len(out) {
				out = text
			}
		}
	}
	return out
}

// Bytes writes a size that need not be exact.
func Bytes(n int64) string {
	units, value, i := []string{"bytes", "KB", "MB", "GB", "TB"}, float64(n), 0
	for ; value >= 1000 && i < len(units)-1; i++ {
		value /= 1000
	}
	if i == 0 {
		return strconv.FormatInt(n, 10) + " bytes"
	}
	return strconv.FormatFloat(value, 'f', 1, 64) + " " + units[i]
}
