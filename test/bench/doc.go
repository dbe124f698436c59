// Package bench measures the cost of the program against baselines that run beside it: a
// compiler that only parses, a loader that only loads. Each figure is a ratio of medians of
// interleaved runs, so that a busy machine slows both sides. The figures and the commands are
// in docs/performance.md.
package bench
