//go:build !without_kube_controller_manager

package main

import (
	_ "k8s.io/component-base/logs/json/register"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	"k8s.io/kubernetes/cmd/kube-controller-manager/app"

	"olm-rs/cluster/parts"
)

func init() {
	parts.AddCommand("kube-controller-manager", app.NewControllerManagerCommand)
}
