// Command compose reads a compose file as `docker compose config` does, with the loader and the schema of Docker
// Compose itself, and prints the names of its services. Variables come from the environment.
//
//	compose FILE
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/compose-spec/compose-go/v2/loader"
	"github.com/compose-spec/compose-go/v2/types"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("compose: ")
	if len(os.Args) != 2 {
		log.Fatal("usage: compose FILE")
	}
	project, err := loader.LoadWithContext(context.Background(), types.ConfigDetails{
		WorkingDir:  filepath.Dir(os.Args[1]),
		ConfigFiles: []types.ConfigFile{{Filename: os.Args[1]}},
		Environment: types.NewMapping(os.Environ()),
	})
	if err != nil {
		log.Fatal(err)
	}
	for _, name := range project.ServiceNames() {
		fmt.Println(name)
	}
}
