package main

import (
	"context"
	"flag"
	"fmt"
	"net"
	"os"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
)

// probe asks a server for its health, as the probes of catalog Pods do.
func probe(arguments []string) error {
	flags := flag.NewFlagSet("grpc_health_probe", flag.ContinueOnError)
	address := flags.String("addr", ":50051", "")
	timeout := flags.Duration("rpc-timeout", time.Second, "")
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	plain := grpc.WithTransportCredentials(insecure.NewCredentials())
	connection, err := grpc.NewClient("passthrough:///"+*address, plain)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), *timeout)
	defer cancel()
	answer, err := healthv1.NewHealthClient(connection).Check(ctx, &healthv1.HealthCheckRequest{})
	if err == nil && answer.Status != healthv1.HealthCheckResponse_SERVING {
		err = fmt.Errorf("the server is %s", answer.Status)
	}
	return err
}

// oldOpm serves only where it can write into the folder in which it runs, as opm before v1.23.2: not
// as a user other than root.
func oldOpm([]string) error {
	file, err := os.Create("index.db.lock")
	if err != nil {
		return err
	}
	_ = file.Close()
	listener, err := net.Listen("tcp", ":50051")
	if err != nil {
		return err
	}
	server := grpc.NewServer()
	healthv1.RegisterHealthServer(server, health.NewServer())
	return server.Serve(listener)
}
