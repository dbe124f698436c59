// Command accessc-wasm answers the requests of the playground (docs/playground), which package play describes. Built
// for js/wasm it gives the page a function; built for this system it answers the lines of its standard input by lines,
// with the same bytes.
package main
