//go:build !without_kube_scheduler

package main

import (
	"github.com/spf13/cobra"
	_ "k8s.io/component-base/logs/json/register"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	"k8s.io/kubernetes/cmd/kube-scheduler/app"

	"olm-rs/cluster/parts"
)

func init() {
	parts.AddCommand("kube-scheduler", func() *cobra.Command { return app.NewSchedulerCommand() })
}
