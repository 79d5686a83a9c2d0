// test-apiserver is an embedded etcd and a real kube-apiserver in one process, for end-to-end tests.
// It listens on 127.0.0.1 only, and has no controllers, no scheduler and no kubelet.
//
//	test-apiserver [--port N] [--data-dir DIR] [...] [-- <flags of kube-apiserver>]
//
// When /readyz answers ok it prints one JSON line to stdout: url, controlURL, kubeconfig, token,
// limitedToken, dataDir, pid, readyMs. Logs go to stderr. SIGTERM, SIGINT and, with --stop-on-stdin-eof,
// the end of stdin stop it cleanly.
package main

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"syscall"
	"time"
	_ "time/tzdata" // time zones of CronJobs, as upstream

	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	"k8s.io/kubernetes/cmd/kube-apiserver/app"
)

const limitedUser = "limited"

func main() {
	started := time.Now()
	port := flag.Int("port", 0, "HTTPS port on 127.0.0.1 (0: a free one)")
	controlPort := flag.Int("control-port", 0, "plain-HTTP control port on 127.0.0.1 (0: a free one): GET /revision, POST /compact[?rev=N]")
	dir := flag.String("data-dir", "", "state: etcd data, certificates, keys (kept if it exists; default: a temporary folder, removed on exit)")
	kubeconfig := flag.String("kubeconfig", "", "kubeconfig to write (default: <data-dir>/kubeconfig)")
	token := flag.String("token", "admin-token", "bearer token of user admin (group system:masters)")
	limitedToken := flag.String("limited-token", "limited-token", "bearer token of user 'limited' (no rights beyond discovery under RBAC)")
	authz := flag.String("authorization-mode", "RBAC", "RBAC or AlwaysAllow")
	fsync := flag.Bool("fsync", false, "let etcd fsync")
	remove := flag.Bool("remove-data-dir", false, "remove --data-dir after a clean stop")
	stdinEOF := flag.Bool("stop-on-stdin-eof", false, "stop cleanly when stdin closes (so that the server goes with the test runner that started it)")
	flag.Parse()

	if *dir == "" {
		d, err := os.MkdirTemp("", "test-apiserver-")
		must(err)
		*dir, *remove = d, true
	}
	abs, err := filepath.Abs(*dir)
	must(err)
	*dir = abs
	must(os.MkdirAll(filepath.Join(*dir, "pki"), 0o700))
	if *kubeconfig == "" {
		*kubeconfig = filepath.Join(*dir, "kubeconfig")
	}
	if *port == 0 {
		*port = freePort()
	}
	if *controlPort == 0 {
		*controlPort = freePort()
	}
	serverURL := fmt.Sprintf("https://127.0.0.1:%d", *port)

	pki := ensurePKI(filepath.Join(*dir, "pki"))
	tokens := filepath.Join(*dir, "tokens.csv")
	must(os.WriteFile(tokens, []byte(fmt.Sprintf("%s,admin,admin,\"system:masters\"\n%s,%s,%s\n", *token, *limitedToken, limitedUser, limitedUser)), 0o600))

	etcd, etcdURL := startEtcd(filepath.Join(*dir, "etcd"), *fsync)

	ctl, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", *controlPort))
	must(err)
	controlURL := "http://" + ctl.Addr().String()
	go http.Serve(ctl, control(etcd)) //nolint:errcheck

	args := []string{
		"--bind-address=127.0.0.1",
		"--advertise-address=127.0.0.1",
		"--secure-port=" + strconv.Itoa(*port),
		"--etcd-servers=" + etcdURL,
		"--tls-cert-file=" + pki.serverCert,
		"--tls-private-key-file=" + pki.serverKey,
		"--client-ca-file=" + pki.caCert,
		"--cert-dir=" + filepath.Join(*dir, "pki"),
		"--token-auth-file=" + tokens,
		"--authorization-mode=" + *authz,
		"--service-account-issuer=https://kubernetes.default.svc.cluster.local",
		"--service-account-key-file=" + pki.saKey,
		"--service-account-signing-key-file=" + pki.saKey,
		"--service-cluster-ip-range=10.96.0.0/16",
		"--disable-admission-plugins=ServiceAccount", // no controller creates the default ServiceAccounts
		"--endpoint-reconciler-type=none",            // 127.0.0.1 is not a valid Endpoints address
		"--allow-privileged=true",
		"--shutdown-delay-duration=0s",
		// without it SIGTERM waits for open watches for up to a minute
		"--shutdown-watch-termination-grace-period=1s",
		"--v=0",
	}
	args = append(args, flag.Args()...)

	go func() {
		waitReady(serverURL, pki.caCert, *token)
		must(os.WriteFile(*kubeconfig, []byte(kubeconfigYAML(serverURL, pki, *token, *limitedToken)), 0o600))
		line, _ := json.Marshal(map[string]any{
			"ready": true, "url": serverURL, "controlURL": controlURL, "etcdURL": etcdURL,
			"kubeconfig": *kubeconfig, "token": *token, "limitedToken": *limitedToken, "dataDir": *dir,
			"pid": os.Getpid(), "readyMs": time.Since(started).Milliseconds(), "versions": versions(),
		})
		fmt.Println(string(line))
	}()

	if *stdinEOF {
		go func() {
			_, _ = io.Copy(io.Discard, os.Stdin)
			_ = syscall.Kill(os.Getpid(), syscall.SIGTERM)
		}()
	}

	cmd := app.NewAPIServerCommand() // installs its own SIGTERM/SIGINT handling
	cmd.SetArgs(args)
	code := cli.Run(cmd)

	etcd.Close()
	if *remove && code == 0 { // the log of a failure is kept
		os.RemoveAll(*dir)
	}
	os.Exit(code)
}

func waitReady(server, caFile, token string) {
	pool := x509.NewCertPool()
	b, err := os.ReadFile(caFile)
	must(err)
	pool.AppendCertsFromPEM(b)
	c := &http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}}
	defer c.CloseIdleConnections()
	for {
		req, _ := http.NewRequest("GET", server+"/readyz", nil)
		req.Header.Set("Authorization", "Bearer "+token)
		if r, err := c.Do(req); err == nil {
			r.Body.Close()
			if r.StatusCode == 200 {
				return
			}
		}
		time.Sleep(50 * time.Millisecond)
	}
}

func versions() map[string]string {
	out := map[string]string{}
	if bi, ok := debug.ReadBuildInfo(); ok {
		out["go"] = bi.GoVersion
		for _, d := range bi.Deps {
			switch d.Path {
			case "k8s.io/kubernetes", "go.etcd.io/etcd/server/v3":
				out[d.Path] = d.Version
			}
		}
	}
	return out
}

// freePort chooses below Linux's range of ephemeral ports (32768 and up): an outgoing connection of a test that runs
// beside this one could otherwise take the port between a kill and the restart under the same address.
func freePort() int {
	for range 100 {
		port := 20000 + rand.IntN(12000)
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err == nil {
			l.Close()
			return port
		}
	}
	must(errors.New("no free port between 20000 and 32000"))
	return 0
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "test-apiserver:", err)
		os.Exit(1)
	}
}
