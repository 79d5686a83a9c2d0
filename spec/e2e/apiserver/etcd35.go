//go:build etcd35

package main

import (
	"time"

	"go.etcd.io/etcd/server/v3/embed"
)

// setIntervals is for etcd 3.5, which Kubernetes 1.33 has.
func setIntervals(cfg *embed.Config) {
	cfg.ExperimentalWatchProgressNotifyInterval = 5 * time.Second
	cfg.ExperimentalWarningApplyDuration = 2 * time.Second
}
