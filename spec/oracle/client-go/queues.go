package main

import (
	"os"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/time/rate"
	"k8s.io/client-go/util/workqueue"
)

// limiterSpec describes a rate limiter; times are in milliseconds.
type limiterSpec struct {
	Kind     string        `json:"kind"`
	BaseMs   float64       `json:"baseMs"`
	MaxMs    float64       `json:"maxMs"`
	FastMs   float64       `json:"fastMs"`
	SlowMs   float64       `json:"slowMs"`
	MaxFast  int           `json:"maxFastAttempts"`
	QPS      float64       `json:"qps"`
	Burst    int           `json:"burst"`
	Limiters []limiterSpec `json:"limiters"`
}

func milliseconds(ms float64) time.Duration {
	return time.Duration(ms * float64(time.Millisecond))
}

func (s limiterSpec) make() workqueue.TypedRateLimiter[string] {
	inner := []workqueue.TypedRateLimiter[string]{}
	for _, each := range s.Limiters {
		inner = append(inner, each.make())
	}
	switch s.Kind {
	case "default":
		return workqueue.DefaultTypedControllerRateLimiter[string]()
	case "defaultItemBased":
		return workqueue.DefaultTypedItemBasedRateLimiter[string]()
	case "exponential":
		return workqueue.NewTypedItemExponentialFailureRateLimiter[string](milliseconds(s.BaseMs), milliseconds(s.MaxMs))
	case "fastSlow":
		return workqueue.NewTypedItemFastSlowRateLimiter[string](milliseconds(s.FastMs), milliseconds(s.SlowMs), s.MaxFast)
	case "bucket":
		return &workqueue.TypedBucketRateLimiter[string]{Limiter: rate.NewLimiter(rate.Limit(s.QPS), s.Burst)}
	case "maxOf":
		return workqueue.NewTypedMaxOfRateLimiter(inner...)
	case "maxWait":
		return workqueue.NewTypedWithMaxWaitRateLimiter(inner[0], milliseconds(s.MaxMs))
	}
	panic("no limiter is called " + s.Kind)
}

type queueOp struct {
	Op  string  `json:"op"`
	Key string  `json:"key"`
	Ms  float64 `json:"ms"`
	// done: the index of a key that a worker holds, oldest first
	Nth int `json:"nth"`
}

type queueScript struct {
	Seed    int         `json:"seed"`
	Limiter limiterSpec `json:"limiter"`
	// The limiter is called directly, without a queue.
	Alone bool      `json:"alone"`
	Keys  []string  `json:"keys"`
	Ops   []queueOp `json:"ops"`
}

// queueView is the state that is visible after an op.
type queueView struct {
	// The keys that getters received since the previous op, sorted.
	Got []string `json:"got"`
	// The number of getters that were notified of the shutdown.
	Ended        int            `json:"ended"`
	Len          int            `json:"len"`
	ShuttingDown bool           `json:"shuttingDown"`
	Drained      int            `json:"drained"`
	Requeues     map[string]int `json:"requeues"`
	// The wait that the limiter returned.
	WhenMs float64 `json:"whenMs"`
}

type queueAnswer struct {
	Seed  int         `json:"seed"`
	Views []queueView `json:"views"`
}

// runQueue plays a script. Within a synctest bubble time stands still while any goroutine can run, and after
// synctest.Wait none can. The view is taken then, so that it does not depend on the speed of goroutines.
func runQueue(script queueScript) queueAnswer {
	limiter := script.Limiter.make()
	queue := workqueue.NewTypedRateLimitingQueueWithConfig(limiter, workqueue.TypedRateLimitingQueueConfig[string]{})
	result := queueAnswer{Seed: script.Seed, Views: []queueView{}}
	got := make(chan string, 1000)
	ended := make(chan bool, 1000)
	drained := make(chan bool, 1000)
	held := []string{}
	drains := 0
	for _, op := range script.Ops {
		view := queueView{Got: []string{}, Requeues: map[string]int{}}
		switch op.Op {
		case "add":
			queue.Add(op.Key)
		case "addAfter":
			queue.AddAfter(op.Key, milliseconds(op.Ms))
		case "addRateLimited":
			queue.AddRateLimited(op.Key)
		case "forget":
			queue.Forget(op.Key)
		case "get":
			go func() {
				if key, shutdown := queue.Get(); shutdown {
					ended <- true
				} else {
					got <- key
				}
			}()
		case "done":
			if len(held) > 0 {
				nth := op.Nth % len(held)
				key := held[nth]
				held = slices.Delete(held, nth, nth+1)
				queue.Done(key)
			}
		case "advance":
			time.Sleep(milliseconds(op.Ms))
		case "shutDown":
			queue.ShutDown()
		case "shutDownWithDrain":
			go func() {
				queue.ShutDownWithDrain()
				drained <- true
			}()
		}
		synctest.Wait()
		for len(got) > 0 {
			view.Got = append(view.Got, <-got)
		}
		for len(ended) > 0 {
			<-ended
			view.Ended++
		}
		for len(drained) > 0 {
			<-drained
			drains++
		}
		slices.Sort(view.Got)
		held = append(held, view.Got...)
		view.Len, view.ShuttingDown, view.Drained = queue.Len(), queue.ShuttingDown(), drains
		for _, key := range script.Keys {
			view.Requeues[key] = queue.NumRequeues(key)
		}
		result.Views = append(result.Views, view)
	}
	// No goroutine may be left in the bubble.
	queue.ShutDown()
	for _, key := range held {
		queue.Done(key)
	}
	synctest.Wait()
	return result
}

func runLimiter(script queueScript) queueAnswer {
	limiter := script.Limiter.make()
	result := queueAnswer{Seed: script.Seed}
	for _, op := range script.Ops {
		view := queueView{Got: []string{}, Requeues: map[string]int{}}
		switch op.Op {
		case "when":
			view.WhenMs = float64(limiter.When(op.Key)) / float64(time.Millisecond)
		case "forget":
			limiter.Forget(op.Key)
		case "advance":
			time.Sleep(milliseconds(op.Ms))
		}
		for _, key := range script.Keys {
			view.Requeues[key] = limiter.NumRequeues(key)
		}
		result.Views = append(result.Views, view)
	}
	return result
}

// queues plays each script in a bubble of its own. Only a test can have a bubble.
func queues() {
	os.Args = os.Args[:1]
	// "PASS" is not a response.
	answers = os.Stdout
	os.Stdout = os.Stderr
	always := func(string, string) (bool, error) { return true, nil }
	play := func(t *testing.T) {
		eachLine(func(script queueScript) {
			synctest.Test(t, func(*testing.T) {
				if script.Alone {
					answer(runLimiter(script))
				} else {
					answer(runQueue(script))
				}
			})
		})
	}
	testing.Main(always, []testing.InternalTest{{Name: "queues", F: play}}, nil, nil)
}
