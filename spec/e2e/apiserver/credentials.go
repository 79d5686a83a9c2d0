// Creates certificates, keys and the kubeconfig, once per data folder, so that a restart keeps them.
package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

type pkiFiles struct{ caCert, serverCert, serverKey, adminCert, adminKey, saKey string }

func ensurePKI(dir string) pkiFiles {
	f := func(n string) string { return filepath.Join(dir, n) }
	p := pkiFiles{f("ca.crt"), f("server.crt"), f("server.key"), f("admin.crt"), f("admin.key"), f("sa.key")}
	if _, err := os.Stat(f("done")); err == nil {
		return p
	}
	caKey := newKey()
	ca := &x509.Certificate{
		SerialNumber: serial(), Subject: pkix.Name{CommonName: "test-apiserver-ca"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().AddDate(10, 0, 0),
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature, BasicConstraintsValid: true, IsCA: true,
	}
	caDER, err := x509.CreateCertificate(rand.Reader, ca, ca, caKey.Public(), caKey)
	must(err)
	ca, err = x509.ParseCertificate(caDER)
	must(err)
	writePEM(p.caCert, "CERTIFICATE", caDER)
	issue := func(cert, key string, t *x509.Certificate) {
		k := newKey()
		t.SerialNumber, t.NotBefore, t.NotAfter, t.KeyUsage = serial(), ca.NotBefore, ca.NotAfter, x509.KeyUsageDigitalSignature
		der, err := x509.CreateCertificate(rand.Reader, t, ca, k.Public(), caKey)
		must(err)
		writePEM(cert, "CERTIFICATE", der)
		writePEM(key, "EC PRIVATE KEY", ecDER(k))
	}
	issue(p.serverCert, p.serverKey, &x509.Certificate{
		Subject: pkix.Name{CommonName: "kube-apiserver"}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv4(10, 96, 0, 1)},
		DNSNames:    []string{"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc"},
	})
	issue(p.adminCert, p.adminKey, &x509.Certificate{
		Subject:     pkix.Name{CommonName: "cert-admin", Organization: []string{"system:masters"}},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	})
	writePEM(p.saKey, "EC PRIVATE KEY", ecDER(newKey()))
	must(os.WriteFile(f("done"), nil, 0o600))
	return p
}

func kubeconfigYAML(server string, p pkiFiles, token, limited string) string {
	b64 := func(path string) string {
		b, err := os.ReadFile(path)
		must(err)
		return base64.StdEncoding.EncodeToString(b)
	}
	return fmt.Sprintf(`apiVersion: v1
kind: Config
current-context: admin
clusters:
- name: test
  cluster:
    server: %s
    certificate-authority-data: %s
users:
- name: admin
  user: {token: %q}
- name: limited
  user: {token: %q}
- name: cert-admin
  user:
    client-certificate-data: %s
    client-key-data: %s
contexts:
- {name: admin, context: {cluster: test, user: admin, namespace: default}}
- {name: limited, context: {cluster: test, user: limited, namespace: default}}
- {name: cert-admin, context: {cluster: test, user: cert-admin, namespace: default}}
`, server, b64(p.caCert), token, limited, b64(p.adminCert), b64(p.adminKey))
}

func newKey() *ecdsa.PrivateKey {
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(err)
	return k
}

func ecDER(k *ecdsa.PrivateKey) []byte {
	b, err := x509.MarshalECPrivateKey(k)
	must(err)
	return b
}

func serial() *big.Int {
	n, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	must(err)
	return n
}

func writePEM(path, kind string, der []byte) {
	must(os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600))
}
