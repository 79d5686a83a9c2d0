package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// packages lists the packages that docs/reference/client-go.md maps, below the root of client-go. The map uses patterns for the
// packages that are generated for each API group.
var packages = []string{
	"tools/cache",
	"tools/cache/synctrack",
	"tools/cache/testing",
	"util/workqueue",
	"informers",
	"listers",
	"dynamic",
	"dynamic/dynamicinformer",
	"dynamic/dynamiclister",
	"dynamic/fake",
	"metadata",
	"metadata/metadatainformer",
	"metadata/metadatalister",
	"metadata/fake",
	"tools/watch",
	"tools/pager",
	"tools/leaderelection",
	"tools/leaderelection/resourcelock",
	"tools/record",
	"tools/events",
	"util/retry",
	"util/consistencydetector",
}

// names prints each exported name once: package, kind, name.
func names(root string) {
	for _, path := range packages {
		lines := []string{}
		seen := map[string]bool{}
		add := func(kind, name string) {
			line := fmt.Sprintf("%s %s %s", path, kind, name)
			if !seen[line] {
				seen[line] = true
				lines = append(lines, line)
			}
		}
		files := token.NewFileSet()
		notTest := func(info fs.FileInfo) bool { return !strings.HasSuffix(info.Name(), "_test.go") }
		parsed, err := parser.ParseDir(files, filepath.Join(root, path), notTest, 0)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		for _, each := range parsed {
			for _, file := range each.Files {
				for _, declaration := range file.Decls {
					exported(declaration, add)
				}
			}
		}
		slices.Sort(lines)
		for _, line := range lines {
			fmt.Println(line)
		}
	}
}

// exported reports the exported names of a declaration; of methods only those of exported types.
func exported(declaration ast.Decl, add func(kind, name string)) {
	switch one := declaration.(type) {
	case *ast.FuncDecl:
		if !one.Name.IsExported() {
			return
		}
		if one.Recv == nil {
			add("func", one.Name.Name)
		} else if receiver := receiverOf(one.Recv.List[0].Type); ast.IsExported(receiver) {
			add("method", receiver+"."+one.Name.Name)
		}
	case *ast.GenDecl:
		for _, spec := range one.Specs {
			switch of := spec.(type) {
			case *ast.TypeSpec:
				if !of.Name.IsExported() {
					continue
				}
				add("type", of.Name.Name)
				if face, ok := of.Type.(*ast.InterfaceType); ok {
					for _, method := range face.Methods.List {
						for _, name := range method.Names {
							if name.IsExported() {
								add("method", of.Name.Name+"."+name.Name)
							}
						}
					}
				}
			case *ast.ValueSpec:
				for _, name := range of.Names {
					if name.IsExported() {
						add(one.Tok.String(), name.Name)
					}
				}
			}
		}
	}
}

func receiverOf(expression ast.Expr) string {
	switch one := expression.(type) {
	case *ast.StarExpr:
		return receiverOf(one.X)
	case *ast.IndexExpr:
		return receiverOf(one.X)
	case *ast.IndexListExpr:
		return receiverOf(one.X)
	case *ast.Ident:
		return one.Name
	}
	return ""
}
