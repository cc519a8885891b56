//go:build tools

// Package tools holds no program: it makes go.mod and go.sum cover the one that is built from here,
// opm, the registry server and validator of OLM v0. Tests compare ours with it.
package tools

import _ "github.com/operator-framework/operator-registry/cmd/opm"
