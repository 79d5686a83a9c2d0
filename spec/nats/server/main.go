// A NATS server for tests. It prints one line of JSON with its addresses when it accepts clients, and ends when its
// standard input ends, so that no server outlives the test that started it.
package main

import (
	"encoding/json"
	"io"
	"log"
	"os"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: test-nats-server <config file>")
	}
	options, err := server.ProcessConfigFile(os.Args[1])
	if err != nil {
		log.Fatalf("the config file cannot be read: %v", err)
	}
	options.NoSigs = true
	nats, err := server.NewServer(options)
	if err != nil {
		log.Fatalf("the server cannot be created: %v", err)
	}
	nats.ConfigureLogger()
	nats.Start()
	if !nats.ReadyForConnections(10 * time.Second) {
		log.Fatal("the server does not accept connections after 10 s; look at its log above")
	}
	varz, err := nats.Varz(nil)
	if err != nil {
		log.Fatalf("the server does not report its addresses: %v", err)
	}
	ready := map[string]any{"url": nats.ClientURL(), "websocket": nats.WebsocketURL(), "version": varz.Version}
	if err := json.NewEncoder(os.Stdout).Encode(ready); err != nil {
		log.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, os.Stdin)
	nats.Shutdown()
	nats.WaitForShutdown()
}
