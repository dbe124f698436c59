// The site of docs/ and the playground: go tool -modfile=tools/go.mod task site. A module of its own, so that the
// product does not depend on a reader of Markdown.
module github.com/accessc/accessc/tools/site

go 1.26.0

require github.com/yuin/goldmark v1.8.7
