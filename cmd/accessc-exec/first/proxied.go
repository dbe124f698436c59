//go:build !accessc_noegress && (linux || darwin)

package first

const proxyless = false
