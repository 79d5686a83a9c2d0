package main

import (
	"encoding/json"
	"fmt"
	"math/big"
	"net/url"
	"os"

	"golang.org/x/net/http/httpproxy"
	"k8s.io/apimachinery/pkg/api/resource"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/api/validation/path"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/client-go/tools/cache"
)

// question asks for the answers to a batch of cases of one subject.
type question struct {
	Seed    int               `json:"seed"`
	Subject string            `json:"subject"`
	Cases   []json.RawMessage `json:"cases"`
}

type questionAnswer struct {
	Seed    int   `json:"seed"`
	Results []any `json:"results"`
}

// subjects answers a case, as Go's packages do.
var subjects = map[string]func(json.RawMessage) any{
	"label selector": answering(labelSelector),
	"field selector": answering(fieldSelector),
	"quantity":       answering(quantity),
	"proxy":          answering(proxyOf),
	"name":           answering(nameErrors),
	"key":            answering(keyOf),
}

func answering[C, R any](answer func(C) R) func(json.RawMessage) any {
	return func(raw json.RawMessage) any {
		var given C
		if err := json.Unmarshal(raw, &given); err != nil {
			panic(fmt.Errorf("%w in %s", err, raw))
		}
		return answer(given)
	}
}

// texts answers questions about texts, and about kubeconfigs.
func texts() {
	eachLine(func(asked question) {
		if asked.Subject == "kubeconfig" {
			answer(questionAnswer{Seed: asked.Seed, Results: kubeconfigs(asked.Cases)})
			return
		}
		results := make([]any, len(asked.Cases))
		for at, each := range asked.Cases {
			results[at] = subjects[asked.Subject](each)
		}
		answer(questionAnswer{Seed: asked.Seed, Results: results})
	})
}

type labelCase struct {
	Text string `json:"text"`
	// The object form. It is decoded here, because its JSON may be invalid.
	Object json.RawMessage     `json:"object"`
	Ours   *string             `json:"ours"`
	Sets   []map[string]string `json:"sets"`
}

type requirement struct {
	Key      string   `json:"key"`
	Operator string   `json:"operator"`
	Values   []string `json:"values"`
}

type labelResult struct {
	Error        string        `json:"error,omitempty"`
	Requirements []requirement `json:"requirements"`
	Matches      []bool        `json:"matches"`
	// The matches of our normal form.
	Ours []bool `json:"ours"`
}

func labelSelector(given labelCase) labelResult {
	result := labelResult{Requirements: []requirement{}}
	selector, err := labels.Parse(given.Text)
	if given.Object != nil {
		var object metav1.LabelSelector
		if err = json.Unmarshal(given.Object, &object); err == nil {
			selector, err = metav1.LabelSelectorAsSelector(&object)
		}
	}
	if err != nil {
		result.Error = err.Error()
		return result
	}
	requirements, _ := selector.Requirements()
	for _, each := range requirements {
		one := requirement{each.Key(), string(each.Operator()), each.ValuesUnsorted()}
		result.Requirements = append(result.Requirements, one)
	}
	result.Matches = matchesOf(selector, given.Sets)
	if given.Ours != nil {
		if ours, err := labels.Parse(*given.Ours); err == nil {
			result.Ours = matchesOf(ours, given.Sets)
		}
	}
	return result
}

func matchesOf(selector labels.Selector, sets []map[string]string) []bool {
	matches := make([]bool, len(sets))
	for at, set := range sets {
		matches[at] = selector.Matches(labels.Set(set))
	}
	return matches
}

type fieldCase struct {
	Text string              `json:"text"`
	Ours *string             `json:"ours"`
	Sets []map[string]string `json:"sets"`
}

type fieldResult struct {
	Error        string        `json:"error,omitempty"`
	Requirements []requirement `json:"requirements"`
	Matches      []bool        `json:"matches"`
	Ours         []bool        `json:"ours"`
}

func fieldSelector(given fieldCase) fieldResult {
	result := fieldResult{Requirements: []requirement{}}
	selector, err := fields.ParseSelector(given.Text)
	if err != nil {
		result.Error = err.Error()
		return result
	}
	for _, each := range selector.Requirements() {
		one := requirement{each.Field, string(each.Operator), []string{each.Value}}
		result.Requirements = append(result.Requirements, one)
	}
	matches := func(selector fields.Selector) []bool {
		all := make([]bool, len(given.Sets))
		for at, set := range given.Sets {
			all[at] = selector.Matches(fields.Set(set))
		}
		return all
	}
	result.Matches = matches(selector)
	if given.Ours != nil {
		if ours, err := fields.ParseSelector(*given.Ours); err == nil {
			result.Ours = matches(ours)
		}
	}
	return result
}

type quantityCase struct {
	Text string `json:"text"`
}

type quantityResult struct {
	Error string `json:"error,omitempty"`
	// The amount as a fraction, the nearest number to it, and its thousandths.
	Unscaled string  `json:"unscaled"`
	Scale    int     `json:"scale"`
	Float    float64 `json:"float"`
	Infinite bool    `json:"infinite"`
	Milli    string  `json:"milli"`
}

func quantity(given quantityCase) quantityResult {
	parsed, err := resource.ParseQuantity(given.Text)
	if err != nil {
		return quantityResult{Error: err.Error()}
	}
	milli := fmt.Sprint(parsed.MilliValue())
	amount := parsed.AsDec()
	result := quantityResult{Unscaled: amount.UnscaledBig().String(), Scale: int(amount.Scale()), Milli: milli}
	if result.Scale > 400 || result.Scale < -400 {
		return result
	}
	power := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(result.Scale, -result.Scale))), nil)
	fraction := new(big.Rat).SetInt(amount.UnscaledBig())
	if result.Scale > 0 {
		fraction.Quo(fraction, new(big.Rat).SetInt(power))
	} else {
		fraction.Mul(fraction, new(big.Rat).SetInt(power))
	}
	nearest, _ := fraction.Float64()
	if nearest-nearest != 0 {
		result.Infinite = true
	} else {
		result.Float = nearest
	}
	return result
}

type proxyCase struct {
	URL string            `json:"url"`
	Env map[string]string `json:"env"`
}

type proxyResult struct {
	Error string `json:"error,omitempty"`
	// The host of the URL.
	Host string `json:"host"`
	// The proxy, or '' if there is none.
	Proxy  string `json:"proxy"`
	Scheme string `json:"scheme"`
	// The host of the proxy.
	ProxyHost string `json:"proxyHost"`
	// Whether a variable names a proxy that is ignored because it cannot be parsed.
	Ignored bool `json:"ignored"`
}

var proxyVariables = []string{"HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "NO_PROXY", "no_proxy", "REQUEST_METHOD"}

func proxyOf(given proxyCase) proxyResult {
	parsed, err := url.Parse(given.URL)
	if err != nil {
		return proxyResult{Error: err.Error()}
	}
	for _, name := range proxyVariables {
		os.Unsetenv(name)
		if value, ok := given.Env[name]; ok {
			os.Setenv(name, value)
		}
	}
	config := httpproxy.FromEnvironment()
	proxy, err := config.ProxyFunc()(parsed)
	if err != nil {
		return proxyResult{Error: err.Error()}
	}
	if proxy != nil {
		return proxyResult{Host: parsed.Host, Proxy: proxy.String(), Scheme: proxy.Scheme, ProxyHost: proxy.Host}
	}
	named := config.HTTPSProxy
	if parsed.Scheme == "http" {
		named = config.HTTPProxy
	}
	everywhere := &httpproxy.Config{HTTPProxy: named, HTTPSProxy: named}
	elsewhere, _ := everywhere.ProxyFunc()(&url.URL{Scheme: parsed.Scheme, Host: "example.com"})
	return proxyResult{Host: parsed.Host, Ignored: named != "" && elsewhere == nil}
}

type nameCase struct {
	Rule string `json:"rule"`
	Text string `json:"text"`
}

func nameErrors(given nameCase) []string {
	reasons := []string{}
	switch given.Rule {
	case "subdomain":
		reasons = apivalidation.NameIsDNSSubdomain(given.Text, false)
	case "label":
		reasons = apivalidation.NameIsDNSLabel(given.Text, false)
	case "segment":
		reasons = path.ValidatePathSegmentName(given.Text, false)
	case "generated":
		reasons = apivalidation.NameIsDNSSubdomain(given.Text, true)
	case "label key":
		reasons = validation.IsQualifiedName(given.Text)
	case "label value":
		reasons = validation.IsValidLabelValue(given.Text)
	default:
		panic("no rule is called " + given.Rule)
	}
	if reasons == nil {
		return []string{}
	}
	return reasons
}

type keyCase struct {
	Key       string `json:"key"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
}

type keyResult struct {
	Error     string `json:"error,omitempty"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	Joined    string `json:"joined"`
	OfObject  string `json:"ofObject"`
}

func keyOf(given keyCase) keyResult {
	object := metav1.ObjectMeta{Namespace: given.Namespace, Name: given.Name}
	ofObject, err := cache.MetaNamespaceKeyFunc(&metav1.PartialObjectMetadata{ObjectMeta: object})
	if err != nil {
		panic(err)
	}
	joined := cache.NewObjectName(given.Namespace, given.Name).String()
	namespace, name, err := cache.SplitMetaNamespaceKey(given.Key)
	if err != nil {
		return keyResult{Error: err.Error(), Joined: joined, OfObject: ofObject}
	}
	return keyResult{Namespace: namespace, Name: name, Joined: joined, OfObject: ofObject}
}
