// Runs client-go for the comparison with rx-informer. Four tools in one binary:
//
//	oracle informers   shared informers against scripted servers
//	oracle queues      work queues and rate limiters through scripts, in virtual time
//	oracle texts       selectors, quantities, proxies, names, keys and kubeconfigs
//	oracle names DIR   the exported names of the packages that docs/reference/client-go.md maps
//
// The first three read one JSON object per line and write one response per line.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"sync"

	"k8s.io/klog/v2"
)

func main() {
	klog.LogToStderr(false)
	klog.SetOutput(io.Discard)
	mode := ""
	if len(os.Args) > 1 {
		mode = os.Args[1]
	}
	switch mode {
	case "informers":
		informers()
	case "queues":
		queues()
	case "texts":
		texts()
	case "names":
		names(os.Args[2])
	default:
		fmt.Fprintln(os.Stderr, "usage: oracle informers | queues | texts | names DIR")
		os.Exit(2)
	}
}

// eachLine decodes standard input, line by line, until it ends.
func eachLine[T any](do func(T)) {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var value T
		if err := json.Unmarshal(lines.Bytes(), &value); err != nil {
			fmt.Fprintf(os.Stderr, "%v in %s\n", err, lines.Text())
			os.Exit(1)
		}
		do(value)
	}
}

var (
	output  sync.Mutex
	answers = os.Stdout
)

// answer writes one line.
func answer(value any) {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	output.Lock()
	defer output.Unlock()
	answers.Write(append(text, '\n'))
}
