//go:build tools

// Package tools holds no program: it makes go.mod and go.sum cover those that are built from here,
// the two operators and the package server of OLM v0. `cargo xtask take-over` has them and ours take
// over from each other.
package tools

import (
	_ "github.com/operator-framework/operator-lifecycle-manager/cmd/catalog"
	_ "github.com/operator-framework/operator-lifecycle-manager/cmd/olm"
	_ "github.com/operator-framework/operator-lifecycle-manager/cmd/package-server"
)
