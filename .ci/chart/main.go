// Command chart prints the manifests of a Helm chart as `helm template` would, as JSON, one for each
// line. It checks them as strictly as a Kubernetes server does: unknown fields and wrong types are errors. kubeconform,
// which compares with the same API's JSON schemas, would have to download those.
//
//	chart [-values FILE] DIR
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"maps"
	"os"
	"slices"
	"strings"

	monitoring "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	serializer "k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/client-go/kubernetes/scheme"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("chart: ")
	values := flag.String("values", "", "a file of values, in YAML")
	flag.Parse()
	if flag.NArg() != 1 {
		log.Fatal("usage: chart [-values FILE] DIR")
	}
	if err := printManifests(flag.Arg(0), *values); err != nil {
		log.Fatal(err)
	}
}

func printManifests(dir, file string) error {
	chart, err := loader.Load(dir)
	if err != nil {
		return err
	}
	if err := chart.Validate(); err != nil {
		return err
	}
	given := chartutil.Values{}
	if file != "" {
		if given, err = chartutil.ReadValuesFile(file); err != nil {
			return err
		}
	}
	release := chartutil.ReleaseOptions{Name: "test", Namespace: "default", Revision: 1, IsInstall: true}
	all, err := chartutil.ToRenderValues(chart, given, release, chartutil.DefaultCapabilities)
	if err != nil {
		return err
	}
	strict := engine.Engine{Strict: true}
	rendered, err := strict.Render(chart, all)
	if err != nil {
		return err
	}
	types := scheme.Scheme
	if err := monitoring.AddToScheme(types); err != nil {
		return err
	}
	decoder := serializer.NewSerializerWithOptions(serializer.DefaultMetaFactory, types, types, serializer.SerializerOptions{Yaml: true, Strict: true})
	out := json.NewEncoder(os.Stdout)
	for _, name := range slices.Sorted(maps.Keys(rendered)) {
		for doc := range strings.SplitSeq(rendered[name], "\n---\n") {
			if !strings.HasSuffix(name, ".yaml") || strings.TrimSpace(doc) == "" {
				continue
			}
			object, _, err := decoder.Decode([]byte(doc), nil, nil)
			if err != nil {
				return fmt.Errorf("%s: %w\n%s", name, err, doc)
			}
			if err := out.Encode(object); err != nil {
				return err
			}
		}
	}
	return nil
}
