package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

// informerCommand is a command of the TypeScript side. The commands of a seed are executed in order.
type informerCommand struct {
	Seed int    `json:"seed"`
	Op   string `json:"op"` // start, handler, remove, await, look, finish

	// start
	URL           string `json:"url"`
	Resource      string `json:"resource"`
	Namespace     string `json:"namespace"`
	LabelSelector string `json:"labelSelector"`
	Follow        bool   `json:"follow"` // the first handler sends each event immediately, and keeps none

	// handler, remove; start has the first handler
	Name     string `json:"name"`
	ResyncMs int    `json:"resyncMs"`

	// await: until the store shows this version; finish: until all handlers have seen it, too
	Key             string `json:"key"`
	ResourceVersion string `json:"resourceVersion"`
	TimeoutMs       int    `json:"timeoutMs"`
}

// event is one call of a handler. It names objects by UID and version, and carries their content.
type event struct {
	Type            string `json:"type"` // add, update, delete
	Key             string `json:"key"`
	UID             string `json:"uid,omitempty"`
	Version         string `json:"version,omitempty"`
	Data            any    `json:"data,omitempty"`
	PreviousUID     string `json:"previousUid,omitempty"`
	PreviousVersion string `json:"previousVersion,omitempty"`
	Initial         bool   `json:"initial,omitempty"`
	FinalUnknown    bool   `json:"finalUnknown,omitempty"`
}

type finished struct {
	Seed    int                `json:"seed"`
	Error   string             `json:"error,omitempty"`
	Store   []any              `json:"store"`
	Stories map[string][]event `json:"stories"`
	Version string             `json:"version"`
	Synced  bool               `json:"synced"`
}

// followed is one event of a handler that is followed.
type followed struct {
	Seed  int   `json:"seed"`
	Event event `json:"event"`
}

type recorder struct {
	follow       func(event)
	mutex        sync.Mutex
	events       []event
	registration cache.ResourceEventHandlerRegistration
	removed      bool
}

func (r *recorder) record(e event) {
	if r.follow != nil {
		r.follow(e)
		return
	}
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.events = append(r.events, e)
}

func (r *recorder) story() []event {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return append([]event{}, r.events...)
}

func (r *recorder) hasSeen(key, version string) bool {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	for at := len(r.events) - 1; at >= 0; at-- {
		if r.events[at].Key == key && r.events[at].Version == version {
			return true
		}
	}
	return false
}

func described(kind string, object any) event {
	e := event{Type: kind}
	if tombstone, ok := object.(cache.DeletedFinalStateUnknown); ok {
		e.FinalUnknown = true
		e.Key = tombstone.Key
		object = tombstone.Obj
	}
	if one, ok := object.(*unstructured.Unstructured); ok && one != nil {
		e.Key, _ = cache.MetaNamespaceKeyFunc(one)
		e.UID = string(one.GetUID())
		e.Version = one.GetResourceVersion()
		e.Data = one.Object["data"]
	}
	return e
}

func (r *recorder) handler() cache.ResourceEventHandler {
	return cache.ResourceEventHandlerDetailedFuncs{
		AddFunc: func(object any, isInInitialList bool) {
			e := described("add", object)
			e.Initial = isInInitialList
			r.record(e)
		},
		UpdateFunc: func(previous, object any) {
			e := described("update", object)
			before := described("update", previous)
			e.PreviousUID, e.PreviousVersion = before.UID, before.Version
			r.record(e)
		},
		DeleteFunc: func(object any) { r.record(described("delete", object)) },
	}
}

// side is one seed's informer and its handlers.
type side struct {
	informer  cache.SharedIndexInformer
	cancel    context.CancelFunc
	recorders map[string]*recorder
}

func (s *side) add(name string, resyncMs int, follow func(event)) error {
	r := &recorder{follow: follow}
	period := time.Duration(resyncMs) * time.Millisecond
	registration, err := s.informer.AddEventHandlerWithResyncPeriod(r.handler(), period)
	r.registration = registration
	s.recorders[name] = r
	return err
}

func start(command informerCommand) (*side, error) {
	// All servers are on loopback.
	tls := rest.TLSClientConfig{Insecure: true}
	client, err := dynamic.NewForConfig(&rest.Config{Host: command.URL, QPS: -1, TLSClientConfig: tls})
	if err != nil {
		return nil, err
	}
	gvr := schema.GroupVersionResource{Version: "v1", Resource: command.Resource}
	tweak := func(options *metav1.ListOptions) { options.LabelSelector = command.LabelSelector }
	generic := dynamicinformer.NewFilteredDynamicInformer(
		client, gvr, command.Namespace, 0,
		cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}, tweak)
	ctx, cancel := context.WithCancel(context.Background())
	s := &side{informer: generic.Informer(), cancel: cancel, recorders: map[string]*recorder{}}
	var follow func(event)
	if command.Follow {
		follow = func(e event) { answer(followed{Seed: command.Seed, Event: e}) }
	}
	if err := s.add(command.Name, command.ResyncMs, follow); err != nil {
		cancel()
		return nil, err
	}
	go s.informer.RunWithContext(ctx)
	return s, nil
}

func (s *side) stored(key, version string) bool {
	object, exists, _ := s.informer.GetStore().GetByKey(key)
	return exists && object.(*unstructured.Unstructured).GetResourceVersion() == version
}

func (s *side) caughtUp(key, version string) bool {
	if !s.stored(key, version) {
		return false
	}
	for _, r := range s.recorders {
		if !r.removed && !r.hasSeen(key, version) {
			return false
		}
	}
	return true
}

// until waits for the state in the command. It returns "", or the state that was not reached.
func until(seen func(key, version string) bool, command informerCommand) string {
	deadline := time.Now().Add(time.Duration(command.TimeoutMs) * time.Millisecond)
	for !seen(command.Key, command.ResourceVersion) {
		if time.Now().After(deadline) {
			return fmt.Sprintf("client-go has not seen %s at %s after %d ms",
				command.Key, command.ResourceVersion, command.TimeoutMs)
		}
		time.Sleep(5 * time.Millisecond)
	}
	return ""
}

// look returns the current state.
func (s *side) look(seed int) finished {
	result := finished{Seed: seed, Stories: map[string][]event{}}
	for _, object := range s.informer.GetStore().List() {
		result.Store = append(result.Store, object.(*unstructured.Unstructured).Object)
	}
	for name, r := range s.recorders {
		result.Stories[name] = r.story()
	}
	result.Version = s.informer.LastSyncResourceVersion()
	result.Synced = s.informer.HasSynced()
	return result
}

func (s *side) finish(command informerCommand) finished {
	missed := until(s.caughtUp, command)
	result := s.look(command.Seed)
	result.Error = missed
	s.cancel()
	return result
}

func informers() {
	sides := map[int]*side{}
	fail := func(seed int, err error) { answer(finished{Seed: seed, Error: err.Error()}) }
	eachLine(func(command informerCommand) {
		s := sides[command.Seed]
		switch command.Op {
		case "start":
			s, err := start(command)
			if err != nil {
				fail(command.Seed, err)
				return
			}
			sides[command.Seed] = s
		case "handler":
			if err := s.add(command.Name, command.ResyncMs, nil); err != nil {
				fail(command.Seed, err)
			}
		case "remove":
			r := s.recorders[command.Name]
			r.removed = true
			if err := s.informer.RemoveEventHandler(r.registration); err != nil {
				fail(command.Seed, err)
			}
		case "await":
			go func() {
				answer(finished{Seed: command.Seed, Error: until(s.stored, command)})
			}()
		case "look":
			answer(s.look(command.Seed))
		case "finish":
			delete(sides, command.Seed)
			go func() { answer(s.finish(command)) }()
		}
	})
}
