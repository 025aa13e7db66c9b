// Package compat is what the suites in Go share: checks named after features, and how they are run and told of.
//
// A suite is a program with the arguments BOOTSTRAP [FEATURE…] that hands its checks to Run. It prints
// "client NAME VERSION", a line for each check, and "N passed, N failed, N skipped" (tools/compat-table reads them).
package compat

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"reflect"
	"runtime/debug"
	"strings"
	"time"
)

// Limit is how long one check may take.
const Limit = 30 * time.Second

// Checks mostly wait (for heartbeats, above all), so that some run at once.
const atOnce = 5

// Check is one feature and what shows it.
type Check struct {
	Feature string
	Do      func(ctx context.Context) // ends by a panic (see Must) where it fails
	Skip    string                    // why the client cannot do it; then there is no Do
}

// Bootstrap is the broker's address.
func Bootstrap() string { return os.Args[1] }

// Fresh is a name that nobody else has.
func Fresh(prefix string) string { return prefix + "-" + rand.Text()[:12] }

// Must ends the check where there is an error.
func Must(err error) {
	if err != nil {
		panic(err)
	}
}

// Get is a call's result; an error ends the check.
func Get[T any](value T, err error) T {
	Must(err)
	return value
}

// Equal ends the check where the two differ.
func Equal(what string, got, want any) {
	if !reflect.DeepEqual(got, want) {
		panic(fmt.Errorf("%s: %v, not %v", what, got, want))
	}
}

// Until asks again until it holds; the check ends where it does not in time.
func Until(ctx context.Context, what string, holds func() bool) {
	for !holds() {
		select {
		case <-ctx.Done():
			panic(fmt.Errorf("not in time: %s", what))
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// Run runs the chosen checks of the client whose module is named, and exits.
func Run(client, module string, checks []Check) {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: BOOTSTRAP [FEATURE…]")
		os.Exit(2)
	}
	fmt.Println("client", client, version(module))
	var started []Check
	var results []chan error
	free := make(chan struct{}, atOnce)
	for _, check := range checks {
		if !chosen(check.Feature) {
			continue
		}
		result := make(chan error, 1)
		started, results = append(started, check), append(results, result)
		if check.Skip == "" {
			go func() {
				free <- struct{}{}
				result <- try(check.Do)
				<-free
			}()
		}
	}
	passed, failed, skipped := 0, 0, 0
	for i, check := range started {
		if check.Skip != "" {
			skipped++
			fmt.Printf("skipped %s: %s\n", check.Feature, check.Skip)
		} else if err := <-results[i]; err != nil {
			failed++
			why := strings.Join(strings.Fields(err.Error()), " ")
			fmt.Printf("failed %s: %.200s\n", check.Feature, why)
		} else {
			passed++
			fmt.Println("passed", check.Feature)
		}
	}
	fmt.Printf("%d passed, %d failed, %d skipped\n", passed, failed, skipped)
	if failed > 0 || passed == 0 {
		os.Exit(1)
	}
}

func try(do func(context.Context)) (err error) {
	ctx, cancel := context.WithTimeout(context.Background(), Limit)
	defer cancel()
	done := make(chan error, 1)
	go func() {
		defer func() {
			if cause := recover(); cause != nil {
				fmt.Fprintf(os.Stderr, "%v\n%s", cause, debug.Stack())
				done <- fmt.Errorf("%v", cause)
			}
		}()
		do(ctx)
		done <- nil
	}()
	select {
	case err = <-done:
	case <-time.After(Limit + 5*time.Second): // a call that does not look at its context
		err = fmt.Errorf("not done in %v", Limit)
	}
	return err
}

func chosen(feature string) bool {
	names := os.Args[2:]
	for _, name := range names {
		if feature == name || strings.HasPrefix(feature, name+".") {
			return true
		}
	}
	return len(names) == 0
}

func version(module string) string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, one := range info.Deps {
			if one.Path == module {
				return strings.TrimPrefix(one.Version, "v")
			}
		}
	}
	return "unknown"
}
