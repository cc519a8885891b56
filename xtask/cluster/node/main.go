// The programs that a node of a cluster runs beside its containers. The first argument, or the name of
// the binary, says which.
package main

import (
	"context"

	"github.com/spf13/cobra"
	_ "k8s.io/component-base/logs/json/register"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	proxy "k8s.io/kubernetes/cmd/kube-proxy/app"
	kubelet "k8s.io/kubernetes/cmd/kubelet/app"

	"olm-rs/cluster/parts"
)

func main() {
	parts.AddCommand("kube-proxy", proxy.NewProxyCommand)
	parts.AddCommand("kubelet", func() *cobra.Command {
		return kubelet.NewKubeletCommand(context.Background())
	})
	parts.Main()
}
