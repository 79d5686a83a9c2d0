package main

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// kubeconfigCase selects a context of one file (an option such as --kubeconfig), or of merged files (KUBECONFIG).
type kubeconfigCase struct {
	File    string   `json:"file"`
	Files   []string `json:"files"`
	Context string   `json:"context"`
}

// kubeconfigResult says why the kubeconfig was refused, why the request failed, or what the server received.
type kubeconfigResult struct {
	Refused  string          `json:"refused,omitempty"`
	Failed   string          `json:"failed,omitempty"`
	Received json.RawMessage `json:"received,omitempty"`
}

const (
	requestsAtOnce = 8
	requestTimeout = 10 * time.Second
)

// kubeconfigs loads each kubeconfig as kubectl does, and sends one request with it, without retries.
func kubeconfigs(cases []json.RawMessage) []any {
	results := make([]any, len(cases))
	turns := make(chan bool, requestsAtOnce)
	var all sync.WaitGroup
	for at, raw := range cases {
		all.Go(func() {
			turns <- true
			defer func() { <-turns }()
			results[at] = answering(sentWith)(raw)
		})
	}
	all.Wait()
	return results
}

func sentWith(given kubeconfigCase) kubeconfigResult {
	rules := &clientcmd.ClientConfigLoadingRules{ExplicitPath: given.File, Precedence: given.Files}
	loaded, err := rules.Load()
	if err != nil {
		return kubeconfigResult{Refused: err.Error()}
	}
	overrides := &clientcmd.ConfigOverrides{CurrentContext: given.Context}
	// As kubectl does, which names the context twice (DeferredLoadingClientConfig.createClientConfig).
	config, err := clientcmd.NewNonInteractiveClientConfig(*loaded, given.Context, overrides, rules).ClientConfig()
	if err != nil {
		return kubeconfigResult{Refused: err.Error()}
	}
	config.NegotiatedSerializer = serializer.NewCodecFactory(runtime.NewScheme()).WithoutConversion()
	client, err := rest.UnversionedRESTClientFor(config)
	if err != nil {
		return kubeconfigResult{Refused: err.Error()}
	}
	defer utilnet.CloseIdleConnectionsFor(client.Client.Transport)
	ending, cancel := context.WithTimeout(context.Background(), requestTimeout)
	defer cancel()
	body, err := client.Get().AbsPath("/version").MaxRetries(0).DoRaw(ending)
	if err != nil {
		return kubeconfigResult{Failed: err.Error()}
	}
	return kubeconfigResult{Received: body}
}
