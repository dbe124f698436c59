// Package compiler turns layers of TOML into the policies of tools.
//
// [Compile] reads the layers, merges them, checks their content, and resolves paths, hosts and
// programs to canonical forms. The result is a typed and validated [ir.Program], or findings:
// every problem at once, each with its file, line and column. There is no partial policy.
//
// The package reads the layers and the workspace's symlinks and writes nothing. It knows neither
// the user nor the machine: approvals of external rules are handed in by [Options], and the
// places where this host keeps programs are none of its concern.
package compiler
