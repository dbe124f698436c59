// Command nothing starts and exits: what any program of Go costs.
package main

func main() {}
