package main

import (
	_ "embed"
	"fmt"
)

//go:generate go run -modfile=../../tools/go.mod ../../tools/schema/gen.go

// schema is the JSON Schema of the configuration, written by tools/schema/gen.go.
//
//go:embed schema.json
var schema string

// schemaCmd is "accessc schema".
type schemaCmd struct{}

// Help implements kong's detailed help.
func (schemaCmd) Help() string {
	return `For editors: save it and name it in the first line of a configuration,

  #:schema ./accessc.schema.json`
}

// Run implements the command.
func (schemaCmd) Run(g *globals) error {
	_, err := fmt.Fprint(g.stdout, schema)
	return err
}
