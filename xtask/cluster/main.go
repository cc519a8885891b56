// One binary with every part of a control plane and of a node, so that one build serves a cluster.
//
// The first argument names the part; the rest is its command line:
//
//	olm-control-plane kube-apiserver --etcd-servers=...
//
// A symbolic link whose name is that of a part works, too.
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"

	"github.com/spf13/cobra"
	"go.etcd.io/etcd/server/v3/etcdmain"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	kubectl "k8s.io/kubectl/pkg/cmd"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllermanager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	proxy "k8s.io/kubernetes/cmd/kube-proxy/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
	kubelet "k8s.io/kubernetes/cmd/kubelet/app"
)

// parts maps the name of a part to what runs it; the result is the exit code.
var parts = map[string]func(args []string) int{
	"etcd":                    runEtcd,
	"kube-apiserver":          cobraPart(apiserver.NewAPIServerCommand),
	"kube-controller-manager": cobraPart(controllermanager.NewControllerManagerCommand),
	"kube-proxy":              cobraPart(proxy.NewProxyCommand),
	"kube-scheduler":          cobraPart(func() *cobra.Command { return scheduler.NewSchedulerCommand() }),
	"kubectl":                 cobraPart(kubectl.NewDefaultKubectlCommand),
	"kubelet":                 cobraPart(func() *cobra.Command { return kubelet.NewKubeletCommand(context.Background()) }),
}

func main() {
	args := os.Args
	if _, known := parts[filepath.Base(args[0])]; !known {
		args = args[1:]
	}
	if len(args) == 0 || parts[filepath.Base(args[0])] == nil {
		fmt.Fprintf(os.Stderr, "usage: %s %s [flags]\n", os.Args[0], strings.Join(names(), "|"))
		os.Exit(2)
	}
	os.Exit(parts[filepath.Base(args[0])](args))
}

func runEtcd(args []string) int {
	etcdmain.Main(args)
	return 0
}

// cobraPart makes the command only when it is wanted: making one registers global flags.
func cobraPart(command func() *cobra.Command) func([]string) int {
	return func(args []string) int {
		os.Args = args
		return cli.Run(command())
	}
}

func names() []string {
	var all []string
	for name := range parts {
		all = append(all, name)
	}
	sort.Strings(all)
	return all
}
