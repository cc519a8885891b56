//go:build tools

// Package helm holds no program: it makes go.mod and go.sum cover helm, which tests render the chart
// with. From this module it is compiled against the same packages as everything else here.
package helm

import _ "helm.sh/helm/v3/cmd/helm"
