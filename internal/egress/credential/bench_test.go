package credential_test

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/accessc/accessc/internal/egress/credential"
)

// BenchmarkMask reads a megabyte of texts that hold no value.
func BenchmarkMask(b *testing.B) {
	s, err := credential.NewSecret([]byte(value))
	if err != nil {
		b.Fatal(err)
	}
	m := s.Mask("user")
	for name, text := range map[string]string{
		"words": "the quick brown fox jumps over 13 lazy dogs. ", "json": `{"name":"a \"b\" \u00e9","url":"https:\/\/example.com?a=1&b=%20"},`,
		"backslashes": `\`, "breaks": "\n", "marks": "+\n", "zeros": "0",
		"number": "&#" + strings.Repeat("0", 1<<20-3), "percents": "%25",
		"ampersands": "&amp;", "beginning": value[:30],
	} {
		b.Run(name, func(b *testing.B) {
			whole := []byte(strings.Repeat(text, 1<<20/len(text)))
			b.SetBytes(int64(len(whole)))
			for b.Loop() {
				_, _ = io.Copy(io.Discard, m.Reader(lasting(io.NopCloser(bytes.NewReader(whole)))))
			}
		})
	}
}
