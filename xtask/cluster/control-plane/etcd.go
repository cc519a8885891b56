//go:build !without_etcd

package main

import (
	"go.etcd.io/etcd/server/v3/etcdmain"

	"olm-rs/cluster/parts"
)

func init() {
	parts.Add("etcd", func(args []string) int {
		etcdmain.Main(args)
		return 0
	})
}
