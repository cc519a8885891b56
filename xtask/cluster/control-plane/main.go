// One binary with every part of a control plane, and with kwok, which plays a node: one build serves
// a cluster. The first argument names the part; the rest is its command line:
//
//	olm-control-plane kube-apiserver --etcd-servers=...
//
// A symbolic link whose name is that of a part works, too. Each part is in a file of its own, and a
// build tag (without_etcd, without_kwok, ...) leaves it out where the machine has that program.
package main

import "olm-rs/cluster/parts"

func main() {
	parts.Main()
}
