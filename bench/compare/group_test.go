package main

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestSamplesAreReadFromAmongOtherLines(t *testing.T) {
	got, err := parseSamples("hello\nlat/0      0.1000 us\nsome other words here\nrate/8 15.5 Mmsg/s\n")
	if err != nil || len(got) != 2 || got[0] != (sample{"lat/0", 0.1, "us"}) || got[1] != (sample{"rate/8", 15.5,
		"Mmsg/s"}) {
		t.Errorf("got %v, %v", got, err)
	}
	if _, err := parseSamples("nothing\n"); err == nil {
		t.Error("no figures are no error")
	}
}

func TestGroupsAreChosenByName(t *testing.T) {
	if all, err := chooseGroups(groups(), nil); err != nil || len(all) != len(groups()) {
		t.Errorf("%d groups, %v", len(all), err)
	}
	if two, err := chooseGroups(groups(), []string{"tcp", "shm"}); err != nil || len(two) != 2 || two[0].name != "shm" {
		t.Errorf("%v, %v", two, err)
	}
	if _, err := chooseGroups(groups(), []string{"fast"}); err == nil {
		t.Error("an unknown group is taken")
	}
}

func TestMakeKnowsTheGroups(t *testing.T) {
	makefile, err := os.ReadFile("../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`(?m)^groups := ((?:.*\\\n)*.*)$`).FindStringSubmatch(string(makefile))
	if found == nil {
		t.Fatal("no groups in the Makefile")
	}
	if got := strings.Fields(strings.ReplaceAll(found[1], "\\\n", " ")); !slices.Equal(got, namesOf(groups())) {
		t.Errorf("the Makefile's groups are %v, those of the comparison %v", got, namesOf(groups()))
	}
}
