package pmi

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// A message is a command and fields that have names. PMI-1 writes it as a line of words,
//
//	cmd=get kvsname=kvs_1 key=card-3
//
// and PMI-2 as its length, in six places, and words that end with semicolons:
//
//	    23cmd=kvs-get;key=card-3;
//
// A semicolon in a value is written twice.

// maxMessage bounds what is read, in bytes. Values have up to 1024 in all managers that are known.
const maxMessage = 64 << 10

// format is one way to write messages.
type format struct {
	read  func(*bufio.Reader) (string, error) // the text of the next message
	parse func(text string) (answer, error)
	write func(cmd string, fields ...string) string
}

var (
	textLines = format{readLine, parseLine, writeLine}
	frames    = format{readFrame, parseFrame, writeFrame}
)

// answer is a message of the manager.
type answer struct {
	cmd    string
	fields [][2]string
	text   string // all of it
}

// field is the value of the first field of that name.
func (a answer) field(name string) (value string, ok bool) {
	for _, f := range a.fields {
		if f[0] == name {
			return f[1], true
		}
	}
	return "", false
}

// number is the value of a field that is a number; otherwise what it is if there is none.
func (a answer) number(name string, otherwise int) int {
	text, _ := a.field(name)
	if n, err := strconv.Atoi(text); err == nil {
		return n
	}
	return otherwise
}

// refused is why the manager has not done what it was asked for; nil: it has.
func (a answer) refused() error {
	rc, ok := a.field("rc")
	if !ok || rc == "0" {
		return nil
	}
	for _, name := range []string{"msg", "errmsg"} {
		if why, ok := a.field(name); ok && why != "" {
			return fmt.Errorf("rc=%.20s: %.200q", rc, why)
		}
	}
	return fmt.Errorf("rc=%.20s", rc)
}

var (
	errTooLong  = fmt.Errorf("a message of more than %d bytes", maxMessage)
	errNoCmd    = errors.New("it does not begin with cmd=")
	errNoLength = errors.New("its length is not a number")
)

// readLine reads up to the end of a line.
func readLine(r *bufio.Reader) (string, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case len(line) > maxMessage:
			return "", errTooLong
		case err == nil:
			return string(line[:len(line)-1]), nil
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF) && len(line) > 0:
			return "", io.ErrUnexpectedEOF
		default:
			return "", err
		}
	}
}

// parseLine reads the words of a line. A word that is no field belongs to the value before it: that is how errors have
// blanks.
func parseLine(text string) (a answer, err error) {
	a.text = text
	for word := range strings.SplitSeq(text, " ") {
		name, value, ok := strings.Cut(word, "=")
		switch {
		case ok && name != "":
			a.fields = append(a.fields, [2]string{name, value})
		case len(a.fields) > 0 && word != "":
			a.fields[len(a.fields)-1][1] += " " + word
		case word != "":
			return answer{}, errNoCmd
		}
	}
	return a.named()
}

// named takes the command out of the fields.
func (a answer) named() (answer, error) {
	if len(a.fields) == 0 || a.fields[0][0] != "cmd" || a.fields[0][1] == "" {
		return answer{}, errNoCmd
	}
	a.cmd, a.fields = a.fields[0][1], a.fields[1:]
	return a, nil
}

func writeLine(cmd string, fields ...string) string {
	b := "cmd=" + cmd
	for i := 0; i+1 < len(fields); i += 2 {
		b += " " + fields[i] + "=" + fields[i+1]
	}
	return b + "\n"
}

// frameHead is the number of places of a length.
const frameHead = 6

// readFrame reads a length, and as many bytes.
func readFrame(r *bufio.Reader) (string, error) {
	var head [frameHead]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return "", err
	}
	n, err := strconv.ParseUint(strings.TrimSpace(string(head[:])), 10, 31)
	if err != nil {
		return "", fmt.Errorf("%w: %q", errNoLength, head[:])
	}
	if n > maxMessage {
		return "", errTooLong
	}
	text := make([]byte, n)
	if _, err := io.ReadFull(r, text); err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return "", err
	}
	return string(text), nil
}

// parseFrame reads the fields of a frame. What has no name belongs to the value before it.
func parseFrame(text string) (a answer, err error) {
	a.text = text
	for rest := text; rest != ""; {
		var word string
		word, rest = cutField(rest)
		name, value, ok := strings.Cut(word, "=")
		switch {
		case ok && name != "":
			a.fields = append(a.fields, [2]string{name, value})
		case len(a.fields) > 0:
			a.fields[len(a.fields)-1][1] += word
		case word != "":
			return answer{}, errNoCmd
		}
	}
	return a.named()
}

// cutField cuts off what stands before the first single semicolon.
func cutField(text string) (word, rest string) {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == ';' {
			if i+1 >= len(text) || text[i+1] != ';' {
				return b.String(), text[i+1:]
			}
			i++
		}
		b.WriteByte(text[i])
	}
	return b.String(), ""
}

func writeFrame(cmd string, fields ...string) string {
	b := ""
	fields = append([]string{"cmd", cmd}, fields...)
	for i := 0; i+1 < len(fields); i += 2 {
		b += strings.ReplaceAll(fields[i]+"="+fields[i+1], ";", ";;") + ";"
	}
	return fmt.Sprintf("%*d", frameHead, len(b)) + b
}
