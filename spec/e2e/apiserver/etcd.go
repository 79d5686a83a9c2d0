// The embedded etcd, and the control port, which gives tests access to etcd.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/server/v3/embed"
)

func startEtcd(dir string, fsync bool) (*embed.Etcd, string) {
	client := url.URL{Scheme: "http", Host: fmt.Sprintf("127.0.0.1:%d", freePort())}
	peer := url.URL{Scheme: "http", Host: fmt.Sprintf("127.0.0.1:%d", freePort())}
	cfg := embed.NewConfig()
	cfg.Name = "test"
	cfg.Dir = dir
	cfg.ListenClientUrls, cfg.AdvertiseClientUrls = []url.URL{client}, []url.URL{client}
	cfg.ListenPeerUrls, cfg.AdvertisePeerUrls = []url.URL{peer}, []url.URL{peer}
	cfg.InitialCluster = cfg.InitialClusterFromName(cfg.Name)
	cfg.LogLevel = "warn"
	cfg.LogOutputs = []string{"stderr"}
	cfg.TickMs, cfg.ElectionMs = 50, 500 // a single member needs no long election
	cfg.UnsafeNoFsync = !fsync
	cfg.QuotaBackendBytes = 4 << 30
	setIntervals(cfg)
	cfg.MaxConcurrentStreams = 1 << 20
	e, err := embed.StartEtcd(cfg)
	must(err)
	select {
	case <-e.Server.ReadyNotify():
	case err := <-e.Err():
		must(err)
	case <-time.After(30 * time.Second):
		must(fmt.Errorf("etcd not ready within 30 s"))
	}
	return e, client.String()
}

func revision(ctx context.Context, e *embed.Etcd) (int64, error) {
	r, err := e.Server.Range(ctx, &pb.RangeRequest{Key: []byte("x"), CountOnly: true})
	if err != nil {
		return 0, err
	}
	return r.Header.Revision, nil
}

// compact drops every revision before `at`. If `at` is empty, it creates a new revision and drops all before it,
// so that all tokens and resource versions of earlier responses are too old.
func compact(ctx context.Context, e *embed.Etcd, at string) (rev int64, err error) {
	put := func(k, v string) error {
		var p *pb.PutResponse
		if p, err = e.Server.Put(ctx, &pb.PutRequest{Key: []byte(k), Value: []byte(v)}); err == nil && at == "" && k == "bump" {
			rev = p.Header.Revision
		}
		return err
	}
	if at != "" {
		if rev, err = strconv.ParseInt(at, 10, 64); err != nil {
			return 0, err
		}
	} else if err = put("bump", ""); err != nil {
		return 0, err
	}
	if err = put("compact_rev_key", strconv.FormatInt(rev, 10)); err != nil {
		return 0, err
	}
	_, err = e.Server.Compact(ctx, &pb.CompactionRequest{Revision: rev, Physical: true})
	return rev, err
}

// control serves the control port.
func control(e *embed.Etcd) http.Handler {
	mux := http.NewServeMux()
	reply := func(w http.ResponseWriter, v any, err error) {
		w.Header().Set("Content-Type", "application/json")
		if err != nil {
			w.WriteHeader(500)
			v = map[string]any{"error": err.Error()}
		}
		_ = json.NewEncoder(w).Encode(v)
	}
	mux.HandleFunc("GET /revision", func(w http.ResponseWriter, r *http.Request) {
		rev, err := revision(r.Context(), e)
		reply(w, map[string]any{"revision": rev}, err)
	})
	// Compacts etcd past its current revision (or at ?rev=N) and notifies the API server as its own compactor
	// would (by compact_rev_key; list snapshots end within 15 s, the watch cache keeps its window).
	// Then these requests are answered with 410: older continue tokens and exact lists (immediately with
	// --feature-gates=ListFromCacheSnapshot=false), and older watches of resources without a watch
	// cache (events; --watch-cache-sizes=configmaps#0).
	mux.HandleFunc("POST /compact", func(w http.ResponseWriter, r *http.Request) {
		rev, err := compact(r.Context(), e, r.URL.Query().Get("rev"))
		reply(w, map[string]any{"compactedAt": rev}, err)
	})
	return mux
}
