package tidegate

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
	"strconv"
	"strings"

	"github.com/tidegate/tidegate/clients/go/internal/replay"
)

const (
	sourceNeighbors      = 2
	maxSourceLineLength  = 200
	maxSourceFileLength  = 500
	maxSourceFileBytes   = 1 << 20
	maxSourceStackLength = 32_768
	// maxSourceFrames is the number of frames whose files are tried: the first readable file counts.
	maxSourceFrames = 5
	maxErrorsWithin = 32
)

// callers are where an error of this package was made. An array, so that the errors can be compared.
type callers [8]uintptr

// callersOf returns the callers of the function that calls this one.
func callersOf() (at callers) {
	runtime.Callers(3, at[:])
	return at
}

type sourceFrame struct {
	function string
	file     string
	line     int
}

// sourceOf are the lines of code around the place where an error came about, for people who look at the run
// (docs/protocol.md#answers): those of the first frame of the app's own code whose file can be read. It is nil of most
// errors of Go, which do not know where that is.
func sourceOf(err error) *replay.Source {
	defer func() {
		// A file that cannot be read is left out: the error itself matters more.
		_ = recover()
	}()
	tried := 0
	for _, frame := range framesOf(err) {
		if !frame.isOwn() {
			continue
		}
		source := frame.read()
		if tried++; source != nil || tried == maxSourceFrames {
			return source
		}
	}
	return nil
}

// stackOf is the stack of a panic, in this call or in a step that failed, or else the frames of the innermost error that
// knows them, in the form of debug.Stack. It is empty for most errors of Go, which do not know where they came about.
func stackOf(err error) string {
	if stack := receivedStack(err); stack != "" {
		return stack
	}
	var stack strings.Builder
	for _, frame := range framesOfCallers(err) {
		fmt.Fprintf(&stack, "%s()\n\t%s:%d\n", frame.function, frame.file, frame.line)
	}
	return stack.String()
}

// receivedStack is a stack that is text already.
func receivedStack(err error) string {
	var panicked *replay.Panic
	var step *StepError
	switch {
	case errors.As(err, &panicked):
		return panicked.Stack
	case errors.As(err, &step):
		return step.Stack
	}
	return ""
}

func framesOf(err error) []sourceFrame {
	if stack := receivedStack(err); stack != "" {
		return framesIn(stack)
	}
	return framesOfCallers(err)
}

// framesOfCallers returns the frames of the innermost error that has frames: the error began there.
func framesOfCallers(err error) (frames []sourceFrame) {
	defer func() {
		// An error's own method may panic: the error itself matters more.
		_ = recover()
	}()
	var innermost []uintptr
	for range maxErrorsWithin {
		if err == nil {
			break
		}
		if found := callersIn(err); len(found) > 0 {
			innermost = found
		}
		err = errors.Unwrap(err)
	}
	if len(innermost) == 0 {
		return nil
	}
	all := runtime.CallersFrames(innermost)
	for {
		frame, more := all.Next()
		frames = append(frames, sourceFrame{frame.Function, frame.File, frame.Line})
		if !more {
			return frames
		}
	}
}

// callersIn are program counters, as those of runtime.Callers. Errors of other packages have them in one of two ways.
func callersIn(err error) []uintptr {
	switch e := err.(type) {
	case *NonRetriableError:
		return e.at.used()
	case *RetryAfterError:
		return e.at.used()
	case *DetailedError:
		return e.at.used()
	case interface{ Callers() []uintptr }:
		return e.Callers()
	}
	method := reflect.ValueOf(err).MethodByName("StackTrace")
	if !method.IsValid() || method.Type().NumIn() != 0 || method.Type().NumOut() != 1 {
		return nil
	}
	trace := method.Type().Out(0)
	if trace.Kind() != reflect.Slice || trace.Elem().Kind() != reflect.Uintptr {
		return nil
	}
	var found []uintptr
	for _, frame := range method.Call(nil)[0].Seq2() {
		found = append(found, uintptr(frame.Uint()))
	}
	return found
}

func (c callers) used() []uintptr {
	for i, at := range c {
		if at == 0 {
			return c[:i]
		}
	}
	return c[:]
}

// stackFrame is the second line of a frame; the first one is the function with its arguments.
var stackFrame = regexp.MustCompile(`^\t(.+):(\d{1,9})(?: \+0x[0-9a-f]+)?$`)

// framesIn reads a stack as debug.Stack writes it.
func framesIn(stack string) (frames []sourceFrame) {
	lines := strings.Split(stack[:min(len(stack), maxSourceStackLength)], "\n")
	for i := 1; i < len(lines); i++ {
		if found := stackFrame.FindStringSubmatch(lines[i]); found != nil {
			line, _ := strconv.Atoi(found[2])
			frames = append(frames, sourceFrame{strings.TrimPrefix(lines[i-1], "created by "), found[1], line})
		}
	}
	return frames
}

var (
	// packagePath begins the names of this package's functions.
	packagePath = reflect.TypeFor[AppRequest]().PkgPath()
	// standardLibrary is the folder of its files.
	standardLibrary = folderOfStandardLibrary()
)

func folderOfStandardLibrary() string {
	file, _ := runtime.FuncForPC(reflect.ValueOf(runtime.GC).Pointer()).FileLine(0)
	return strings.TrimSuffix(file, "runtime/"+filepath.Base(file))
}

func (f sourceFrame) isOwn() bool {
	ofThis, isThis := strings.CutPrefix(f.function, packagePath)
	return !(isThis && strings.IndexAny(ofThis, "./") == 0) &&
		!strings.HasPrefix(f.file, standardLibrary) &&
		!strings.Contains(f.file, "/pkg/mod/") && !strings.Contains(f.file, "/vendor/")
}

// read is nil when the file is not there, as of a program built with -trimpath or run elsewhere.
func (f sourceFrame) read() *replay.Source {
	info, err := os.Stat(f.file)
	if err != nil || !filepath.IsAbs(f.file) || !info.Mode().IsRegular() || info.Size() > maxSourceFileBytes {
		return nil
	}
	text, err := os.ReadFile(f.file)
	if err != nil {
		return nil
	}
	all := bytes.Split(text, []byte("\n"))
	if f.line < 1 || f.line > len(all) {
		return nil
	}
	source := &replay.Source{File: shortened(relativeToHere(f.file), maxSourceFileLength), Line: f.line}
	for line := max(1, f.line-sourceNeighbors); line <= min(len(all), f.line+sourceNeighbors); line++ {
		shown := shortened(strings.TrimRight(string(all[line-1]), " \t\r"), maxSourceLineLength)
		source.Lines = append(source.Lines, replay.SourceLine{Line: line, Text: shown})
	}
	return source
}

func relativeToHere(file string) string {
	here, err := os.Getwd()
	if err != nil {
		return file
	}
	if inside, ok := strings.CutPrefix(file, here+"/"); ok {
		return inside
	}
	return file
}
