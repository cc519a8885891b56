// opm with the commands that tests compare ours with, and no others: serve, render and validate, each
// as operator-registry has it. What is left out (indexes, Dockerfiles, templates) is most of what opm
// takes to compile.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/operator-framework/operator-registry/cmd/opm/render"
	"github.com/operator-framework/operator-registry/cmd/opm/serve"
	"github.com/operator-framework/operator-registry/cmd/opm/validate"
	"github.com/spf13/cobra"
)

func main() {
	ctx, cancel := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer cancel()
	if err := command().ExecuteContext(ctx); err != nil {
		os.Exit(1)
	}
}

// command is opm's own, with its flags for registries.
func command() *cobra.Command {
	cmd := &cobra.Command{Use: "opm", Short: "operator package manager", Args: cobra.NoArgs}
	cmd.PersistentFlags().Bool("skip-tls", false, "skip TLS certificate verification")
	cmd.PersistentFlags().Bool("skip-tls-verify", false, "skip TLS certificate verification")
	cmd.PersistentFlags().Bool("use-http", false, "use plain HTTP for registries")
	cmd.AddCommand(serve.NewCmd(), render.NewCmd(false), validate.NewCmd())
	return cmd
}
