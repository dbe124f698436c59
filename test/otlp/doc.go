// Package otlp checks exported evidence logs against the published protobufs of OpenTelemetry. It is a module of its
// own, so that nothing else depends on these: go tool -modfile=tools/go.mod task otlp.
package otlp
