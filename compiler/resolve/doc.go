// Package resolve turns written names into canonical forms: rule paths and asked paths into
// locations, hosts and URLs into their ASCII forms, programs into files. It is the only package
// of the front end that looks at the workspace's tree.
//
// A path is evaluated in this order, each step with its own error: absolute paths and lexical
// escapes are refused before the disk is touched; symlinks are resolved on every existing
// component, also when they dangle; components that do not exist yet are appended to the
// nearest ancestor that does; the result is a location below the deepest root that contains it.
package resolve
