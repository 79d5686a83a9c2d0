package main

import (
	"fmt"
	"strconv"
	"time"

	"k8s.io/client-go/util/workqueue"
)

// perKey returns the nanoseconds a key of one run.
func perKey(keys []string, run func()) float64 {
	started := time.Now()
	run()
	return float64(time.Since(started).Nanoseconds()) / float64(len(keys))
}

func newQueue() workqueue.TypedRateLimitingInterface[string] {
	limiter := workqueue.NewTypedItemExponentialFailureRateLimiter[string](0, 0)
	return workqueue.NewTypedRateLimitingQueue(limiter)
}

func work(queue workqueue.TypedRateLimitingInterface[string], count int) {
	for range count {
		key, _ := queue.Get()
		queue.Done(key)
	}
}

// measureQueue returns the nanoseconds a key by the name of the way of spec/bench/queue/ways.ts.
func measureQueue(way string, count int) float64 {
	keys := make([]string, count)
	for i := range keys {
		keys[i] = "shop/web-" + strconv.Itoa(i)
	}
	queue := newQueue()
	defer queue.ShutDown()
	switch way {
	case "turns":
		return perKey(keys, func() {
			for _, key := range keys {
				queue.Add(key)
				work(queue, 1)
			}
		})
	case "pair":
		return perKey(keys, func() {
			go func() {
				for _, key := range keys {
					queue.Add(key)
				}
			}()
			work(queue, count)
		})
	case "duplicate":
		queue.Add(keys[0])
		return perKey(keys, func() {
			for range keys {
				queue.Add(keys[0])
			}
		})
	case "limited":
		return perKey(keys, func() {
			go func() {
				for _, key := range keys {
					queue.AddRateLimited(key)
					queue.Forget(key)
				}
			}()
			work(queue, count)
		})
	}
	panic(fmt.Sprintf("unknown way %q", way))
}
