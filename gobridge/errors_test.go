package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/libimpi/libimpi/abi"
)

func TestCodesTellTheirErrorAndTheirClass(t *testing.T) {
	codes := map[int32]bool{}
	for i := range 3 * errorSlots {
		class := 1 + i%(abi.MPI_ERR_ABI)
		if class > classMask {
			class = abi.MPI_ERR_OTHER
		}
		code := register(class, fmt.Sprintf("particulars %d", i), errorsReturn, abi.MPI_COMM_WORLD)
		if code <= abi.MPI_SUCCESS || code > abi.MPI_ERR_LASTCODE || code <= classMask {
			t.Fatalf("code %d", code)
		}
		if code >= abi.MPI_T_ERR_CANNOT_INIT && code <= abi.MPI_T_ERR_PVAR_NO_ATOMIC {
			t.Fatalf("code %d is the tool interface's", code)
		}
		if got, ok := errorClass(code); !ok || got != int32(class) {
			t.Fatalf("code %d of class %d has class %d", code, class, got)
		}
		if text, ok := describeCode(code); !ok || text != fmt.Sprintf("particulars %d", i) {
			t.Fatalf("code %d: %q", code, text)
		}
		if r, ok := recall(code); !ok || r.handler != errorsReturn || r.object != abi.MPI_COMM_WORLD {
			t.Fatalf("code %d: handler %v, object %#x", code, r.handler, r.object)
		}
		codes[code] = true
	}
	if len(codes) < errorSlots-1 {
		t.Errorf("%d codes for %d errors", len(codes), 3*errorSlots)
	}
}

func TestErrorsOfLossesHaveTheirClassAsCode(t *testing.T) {
	for class := int32(firstLoss); class <= lastLoss; class++ {
		for i := range 3 * errorSlots {
			text := fmt.Sprintf("class %d, loss %d", class, i)
			code := register(int(class), text, errorsReturn, abi.MPI_COMM_WORLD)
			if got := toProgram(code); got != class {
				t.Fatalf("the program gets %d for class %d", got, class)
			}
			register(abi.MPI_ERR_TAG, "another", errorsReturn, 0)
			if got, ok := describeCode(class); !ok || got != text {
				t.Fatalf("code %d: %q", class, got)
			}
			if got, ok := errorClass(class); !ok || got != class {
				t.Fatalf("code %d has class %d", class, got)
			}
		}
	}
	if code := register(abi.MPI_ERR_TAG, "no loss", errorsReturn, 0); toProgram(code) != code {
		t.Errorf("the program gets %d for %d", toProgram(code), code)
	}
}

func TestForgottenCodesStillTellTheirClass(t *testing.T) {
	old := register(abi.MPI_ERR_RANK, "the first", errorsReturn, 0)
	for range errorSlots {
		register(abi.MPI_ERR_TAG, "another", errorsReturn, 0)
	}
	if _, ok := recall(old); ok {
		t.Error("the code is still known")
	}
	if class, ok := errorClass(old); !ok || class != abi.MPI_ERR_RANK {
		t.Errorf("class %d", class)
	}
	if text, ok := describeCode(old); !ok || !strings.HasPrefix(text, "MPI_ERR_RANK") {
		t.Errorf("text %q", text)
	}
}

func TestPredefinedClassesAreCodes(t *testing.T) {
	for _, class := range []int32{abi.MPI_SUCCESS, abi.MPI_ERR_BUFFER, abi.MPI_ERR_ABI} {
		if got, ok := errorClass(class); !ok || got != class {
			t.Errorf("class %d has class %d", class, got)
		}
		if text, ok := describeCode(class); !ok || !strings.HasPrefix(text, "MPI_") {
			t.Errorf("class %d: %q", class, text)
		}
	}
	for _, bad := range []int32{-1, -1 << 31, 1 << classBits, 5 << classBits, 1<<31 - 1, firstCustom + 1000} {
		if _, ok := errorClass(bad); ok {
			t.Errorf("%d has a class", bad)
		}
		if text, ok := describeCode(bad); ok {
			t.Errorf("%d: %q", bad, text)
		}
	}
}

func TestAddedClassesAndCodes(t *testing.T) {
	var c customCodes
	if c.last() != abi.MPI_ERR_LASTCODE {
		t.Errorf("last used code %d of none", c.last())
	}
	class := c.add(-1)
	code := c.add(class)
	other := c.add(abi.MPI_ERR_OTHER)
	if class != abi.MPI_ERR_LASTCODE+1 || code != class+1 || other != class+2 || c.last() != other {
		t.Errorf("class %d, codes %d and %d, last %d", class, code, other, c.last())
	}
	for n, want := range map[int32]int32{class: class, code: class, other: abi.MPI_ERR_OTHER} {
		if got, ok := c.classOf(n); !ok || got != want {
			t.Errorf("%d has class %d, want %d", n, got, want)
		}
		if text, ok := c.text(n); !ok || text != "" {
			t.Errorf("%d: text %q", n, text)
		}
	}
	c.Lock()
	c.entry(code).text = "so"
	c.Unlock()
	if text, _ := c.text(code); text != "so" {
		t.Errorf("text %q", text)
	}
	for n, isClass := range map[int32]bool{class: true, code: true, other + 1: false, abi.MPI_ERR_OTHER: true, -5: false} {
		if err := c.remove(n, isClass); err == nil {
			t.Errorf("%d removed as a class: %t", n, isClass)
		}
	}
	c.Lock()
	c.entry(code).text = "" // a code with a string stays
	c.Unlock()
	for _, step := range []struct {
		n       int32
		isClass bool
		last    int32
	}{{code, false, other}, {class, true, other}, {other, false, abi.MPI_ERR_LASTCODE}} {
		if err := c.remove(step.n, step.isClass); err != nil {
			t.Error(err)
		}
		if err := c.remove(step.n, step.isClass); err == nil {
			t.Errorf("%d removed twice", step.n)
		}
		if _, ok := c.classOf(step.n); ok {
			t.Errorf("%d is still there", step.n)
		}
		if c.last() != step.last {
			t.Errorf("last used code %d, want %d", c.last(), step.last)
		}
	}
	if again := c.add(-1); again != class {
		t.Errorf("a number that has been removed is not given again: %d", again)
	}
}
