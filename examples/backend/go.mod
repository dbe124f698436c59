// A backend of others: a program that accessc build --target deno starts. It is a module of its own, as yours would be;
// replace is for this repository alone.
module example.com/accessc-backend-deno

go 1.26.0

require github.com/accessc/accessc v0.0.0

require (
	github.com/tidwall/gjson v1.20.0 // indirect
	github.com/tidwall/match v1.1.1 // indirect
	github.com/tidwall/pretty v1.2.0 // indirect
)

replace github.com/accessc/accessc => ../..
