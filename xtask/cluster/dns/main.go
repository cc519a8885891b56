// The DNS server of clusters with a real node: CoreDNS with the plugins that the Corefile in
// olm-testkit/src/cluster/real/dns.yaml names, and no others.
package main

import (
	_ "github.com/coredns/coredns/plugin/errors"
	_ "github.com/coredns/coredns/plugin/kubernetes"
	_ "github.com/coredns/coredns/plugin/ready"
	_ "github.com/coredns/coredns/plugin/template"

	"github.com/coredns/coredns/coremain"
)

func main() {
	coremain.Run()
}
