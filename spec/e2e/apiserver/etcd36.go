//go:build !etcd35

package main

import (
	"time"

	"go.etcd.io/etcd/server/v3/embed"
)

// setIntervals sets what etcd 3.5 names otherwise.
func setIntervals(cfg *embed.Config) {
	cfg.WatchProgressNotifyInterval = 5 * time.Second
	cfg.WarningUnaryRequestDuration = 2 * time.Second
}
