// The contestant client-go: a shared informer with the namespace index and one handler. It takes the arguments of the
// contestants in Node and prints the same line of JSON.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"net/http"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

const firstVersion = 1_000_000_000
const written = "bench.example.com/written"

var (
	url     = flag.String("url", "", "the server")
	corpus  = flag.String("corpus", "pods", "the collection")
	measure = flag.String("measure", "sync", "sync, hot, spread, latency or queue")
	way     = flag.String("way", "turns", "the way of spec/bench/queue/ways.ts")
	events  = flag.Int("events", 200000, "the number of events")
	warm    = flag.Int("warm", 0, "the number of events before them")
	rate    = flag.Int("rate", 5000, "events a second for latency")
	among   = flag.Int("among", 10000, "objects that change for latency")
)

func must[T any](value T, err error) T {
	if err != nil {
		fmt.Fprintln(os.Stderr, "client-go:", err)
		os.Exit(1)
	}
	return value
}

// handler receives the events, and knows when the last one has arrived.
type handler struct {
	sync.Mutex
	last, awaited string
	arrived       chan struct{}
	measuring     bool
	latencies     []int64
}

func (h *handler) onEvent(obj any) {
	if tombstone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		obj = tombstone.Obj
	}
	object, err := meta.Accessor(obj)
	if err != nil {
		return
	}
	h.Lock()
	defer h.Unlock()
	if h.measuring {
		at, _ := strconv.ParseInt(object.GetAnnotations()[written], 10, 64)
		h.latencies = append(h.latencies, monotonicMicros()-at)
	}
	h.last = object.GetResourceVersion()
	if h.last == h.awaited {
		h.awaited = ""
		close(h.arrived)
	}
}

// play requests events, and returns when the handler has received the last one.
func (h *handler) play(query string) {
	response := must(http.Post(*url+"/play?"+query, "", nil))
	defer response.Body.Close()
	var answer struct{ Last string }
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		must(0, err)
	}
	arrived := make(chan struct{})
	h.Lock()
	// The last event may arrive before the response that names it has been read.
	done := h.last == answer.Last
	h.awaited, h.arrived = answer.Last, arrived
	h.Unlock()
	if !done {
		<-arrived
	}
}

func monotonicMicros() int64 {
	var now unix.Timespec
	must(0, unix.ClockGettime(unix.CLOCK_MONOTONIC, &now))
	return now.Nano() / 1000
}

func cpuMs() float64 {
	var usage syscall.Rusage
	must(0, syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return float64(usage.Utime.Nano()+usage.Stime.Nano()) / 1e6
}

// memoryMb reads a field of /proc/self/status in MB.
func memoryMb(field string) float64 {
	status, _ := os.ReadFile("/proc/self/status")
	for _, line := range strings.Split(string(status), "\n") {
		if parts := strings.Fields(line); len(parts) > 1 && parts[0] == field+":" {
			kb, _ := strconv.ParseFloat(parts[1], 64)
			return kb / 1024
		}
	}
	return math.NaN()
}

func settledRssMb() float64 {
	runtime.GC()
	debug.FreeOSMemory()
	return memoryMb("VmRSS")
}

func resetPeak() { _ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0o600) }

func allocated() uint64 {
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.TotalAlloc
}

func newInformer() cache.SharedIndexInformer {
	json := rest.ContentConfig{AcceptContentTypes: "application/json", ContentType: "application/json"}
	config := &rest.Config{Host: *url, QPS: -1, ContentConfig: json}
	if *corpus == "widgets" {
		client := must(dynamic.NewForConfig(config))
		widgets := schema.GroupVersionResource{Group: "bench.example.com", Version: "v1", Resource: "widgets"}
		return dynamicinformer.NewDynamicSharedInformerFactory(client, 0).ForResource(widgets).Informer()
	}
	factory := informers.NewSharedInformerFactory(must(kubernetes.NewForConfig(config)), 0)
	switch *corpus {
	case "deployments":
		return factory.Apps().V1().Deployments().Informer()
	case "configmaps":
		return factory.Core().V1().ConfigMaps().Informer()
	case "events":
		return factory.Core().V1().Events().Informer()
	default:
		return factory.Core().V1().Pods().Informer()
	}
}

// verify ends the process unless the store holds what the server holds, so that nobody is fast because it loses events.
func verify(store cache.Store) {
	response := must(http.Get(*url + "/state"))
	defer response.Body.Close()
	var state struct{ Count, Sum int }
	must(0, json.NewDecoder(response.Body).Decode(&state))
	count, sum := 0, 0
	for _, obj := range store.List() {
		version, _ := strconv.Atoi(obj.(metav1.Object).GetResourceVersion())
		count++
		sum += version - firstVersion
	}
	if count != state.Count || sum != state.Sum {
		must(0, fmt.Errorf("holds %d objects with versions of %d, the server %+v", count, sum, state))
	}
}

func main() {
	flag.Parse()
	if *measure == "queue" {
		measureQueue(*way, *events/10) // Warms up, as in Node.
		fmt.Printf(`{"nanosecondsPerKey":%f}`+"\n", measureQueue(*way, *events))
		return
	}
	h := &handler{}
	result := map[string]any{"runtime": "client-go, " + runtime.Version(), "rssBaseMb": settledRssMb()}
	resetPeak()
	cpu, started := cpuMs(), time.Now()
	informer := newInformer()
	registration := must(informer.AddEventHandler(cache.ResourceEventHandlerDetailedFuncs{
		AddFunc: func(obj any, isInInitialList bool) {
			if !isInInitialList {
				h.onEvent(obj)
			}
		},
		UpdateFunc: func(_, obj any) { h.onEvent(obj) },
		DeleteFunc: h.onEvent,
	}))
	go informer.Run(make(chan struct{}))
	for !registration.HasSynced() {
		time.Sleep(time.Millisecond)
	}
	result["syncMs"] = float64(time.Since(started).Microseconds()) / 1000
	result["syncCpuMs"] = cpuMs() - cpu
	result["rssSyncPeakMb"] = memoryMb("VmHWM")
	verify(informer.GetStore())
	result["rssSettledMb"] = settledRssMb()
	switch *measure {
	case "sync":
	case "latency":
		h.latency(result)
	default:
		h.firehose(result)
	}
	verify(informer.GetStore())
	fmt.Println(string(must(json.Marshal(result))))
}

func (h *handler) latency(result map[string]any) {
	steady := fmt.Sprintf("mode=steady&rate=%d&objects=%d&events=", *rate, *among)
	h.play(steady + strconv.Itoa(*events/5+1))
	h.Lock()
	h.measuring = true
	h.Unlock()
	cpu := cpuMs()
	h.play(steady + strconv.Itoa(*events))
	result["eventsPerCpuSecond"] = float64(*events) / ((cpuMs() - cpu) / 1000)
	h.Lock()
	defer h.Unlock()
	slices.Sort(h.latencies)
	result["p50us"] = h.latencies[len(h.latencies)/2]
	result["p99us"] = h.latencies[len(h.latencies)*99/100]
}

func (h *handler) firehose(result map[string]any) {
	query := "mode=" + *measure + "&events="
	if *warm > 0 {
		h.play(query + strconv.Itoa(*warm))
	}
	resetPeak()
	before, cpu, started := allocated(), cpuMs(), time.Now()
	h.play(query + strconv.Itoa(*events))
	count := float64(*events)
	result["eventsPerSecond"] = count / time.Since(started).Seconds()
	result["eventsPerCpuSecond"] = count / ((cpuMs() - cpu) / 1000)
	result["allocatedPerEvent"] = float64(allocated()-before) / count
	result["rssPeakMb"] = memoryMb("VmHWM")
}
