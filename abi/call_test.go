package abi

import "testing"

func TestTheCallsHaveTheirArgumentsAsTheStandardHasThem(t *testing.T) {
	found := map[string]Call{}
	for n := range Calls() {
		c := CallNumbered(n)
		if _, again := found[c.Name]; again || c.Name == "" {
			t.Errorf("call %d is %q, again or without a name", n, c.Name)
		}
		found[c.Name] = c
	}
	for name, want := range map[string][]Param{
		"MPI_Barrier": {{"comm", "COMMUNICATOR", true, false, ""}},
		"MPI_Get_count_c": {{"status", "STATUS", true, false, ""}, {"datatype", "DATATYPE", true, false, ""},
			{"count", "POLYXFER_NUM_ELEM", false, true, ""}},
		"MPI_Waitall": {{"count", "ARRAY_LENGTH_NNI", true, false, ""},
			{"array_of_requests", "REQUEST", true, true, "count"}, {"array_of_statuses", "STATUS", false, true, "*"}},
		"MPIX_Comm_create_errhandler_x": nil,
	} {
		got := found[name]
		if got.Name == "" || want != nil && len(got.Params) != len(want) {
			t.Errorf("%s: %+v", name, got)
			continue
		}
		for i, p := range want {
			if got.Params[i] != p {
				t.Errorf("%s: %+v, want %+v", name, got.Params[i], p)
			}
		}
	}
	if len(found) < 600 {
		t.Errorf("%d calls", len(found))
	}
	if c := CallNumbered(-1); c.Name != "call -1" || len(c.Params) != 0 {
		t.Errorf("no call: %+v", c)
	}
}

func TestEveryParameterOfTheStandardHasAKind(t *testing.T) {
	without := 0
	for n := range Calls() {
		for _, p := range CallNumbered(n).Params {
			if p.Kind == "" {
				without++
				t.Logf("%s: %s", CallNumbered(n).Name, p.Name)
			}
		}
	}
	if without > 40 {
		t.Errorf("%d have none", without)
	}
}
