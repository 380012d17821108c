package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"

	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
)

// files are what the server and its clients read, all in one folder.
type files struct {
	folder string
	token  string
}

func (f *files) path(name string) string { return filepath.Join(f.folder, name) }

// writeFiles makes certificates, the users' tokens, the key for service accounts, and a kubeconfig.
func writeFiles(folder, address string) (*files, error) {
	f := &files{folder: folder, token: rand.Text()}
	authority, err := newAuthority()
	if err != nil {
		return nil, err
	}
	server, err := authority.forServer()
	if err != nil {
		return nil, err
	}
	admin, err := authority.forUser("admin", "system:masters")
	if err != nil {
		return nil, err
	}
	user, err := authority.forUser("carol", "trainers")
	if err != nil {
		return nil, err
	}
	accountKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	accountPrivate, err := privatePEM(accountKey)
	if err != nil {
		return nil, err
	}
	accountPublic, err := x509.MarshalPKIXPublicKey(accountKey.Public())
	if err != nil {
		return nil, err
	}
	for name, content := range map[string][]byte{
		"ca.crt":     authority.pem,
		"server.crt": server.certificate,
		"server.key": server.key,
		"admin.crt":  admin.certificate,
		"admin.key":  admin.key,
		"carol.crt":  user.certificate,
		"carol.key":  user.key,
		"sa.key":     accountPrivate,
		"sa.pub":     toPEM("PUBLIC KEY", accountPublic),
		"tokens.csv": []byte(f.token + ",alice,alice-uid,\"trainers\"\n"),
		"token":      []byte(f.token),
	} {
		if err := os.WriteFile(f.path(name), content, 0o600); err != nil {
			return nil, err
		}
	}
	return f, clientcmd.WriteToFile(f.kubeconfig(address), f.path("kubeconfig"))
}

// kubeconfig has a context for each way to be somebody; "admin" is the current one.
func (f *files) kubeconfig(address string) api.Config {
	config := *api.NewConfig()
	config.Clusters["test"] = &api.Cluster{Server: "https://" + address, CertificateAuthority: f.path("ca.crt")}
	config.AuthInfos["admin"] = &api.AuthInfo{ClientCertificate: f.path("admin.crt"), ClientKey: f.path("admin.key")}
	config.AuthInfos["carol"] = &api.AuthInfo{ClientCertificate: f.path("carol.crt"), ClientKey: f.path("carol.key")}
	config.AuthInfos["alice"] = &api.AuthInfo{Token: f.token}
	for user := range config.AuthInfos {
		config.Contexts[user] = &api.Context{Cluster: "test", AuthInfo: user, Namespace: "ml"}
	}
	config.CurrentContext = "admin"
	return config
}

// flags are those of kube-apiserver for these files.
func (f *files) flags(etcd string) []string {
	return []string{
		"--etcd-servers=" + etcd,
		// The apiserver looks at compactions only if it also makes them; this one never comes to that.
		"--etcd-compaction-interval=1000h",
		"--tls-cert-file=" + f.path("server.crt"),
		"--tls-private-key-file=" + f.path("server.key"),
		"--client-ca-file=" + f.path("ca.crt"),
		"--token-auth-file=" + f.path("tokens.csv"),
		"--authorization-mode=RBAC",
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file=" + f.path("sa.pub"),
		"--service-account-signing-key-file=" + f.path("sa.key"),
		// No controller makes the account "default" of a namespace, without which no pod is taken.
		"--disable-admission-plugins=ServiceAccount",
		"--service-cluster-ip-range=10.96.0.0/16",
		"--endpoint-reconciler-type=none",
		"--shutdown-delay-duration=0s",
	}
}

// ready is what the one line of JSON says; the names are those of muster-sim where they mean the same.
func (f *files) ready(address string) map[string]any {
	host, port, _ := net.SplitHostPort(address)
	number, _ := strconv.Atoi(port)
	return map[string]any{
		"url":                fmt.Sprintf("https://%s", address),
		"host":               host,
		"port":               number,
		"pid":                os.Getpid(),
		"directory":          f.folder,
		"kubeconfig":         f.path("kubeconfig"),
		"ca":                 f.path("ca.crt"),
		"client_certificate": f.path("admin.crt"),
		"client_key":         f.path("admin.key"),
		"token_file":         f.path("token"),
	}
}
