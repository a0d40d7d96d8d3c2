package boot

// What a rank asks of its launcher while it runs: further processes (MPI 5.0, 11.8), and names (11.10.4).

// Command is one of the programs of MPI_Comm_spawn_multiple.
type Command struct {
	Program string      `json:"program"`
	Args    []string    `json:"args,omitempty"` // without the program's name
	Procs   int32       `json:"procs"`          // how many at most
	Info    [][2]string `json:"info,omitempty"` // keys and values, as the program gave them
}

// Spawn asks for a new job. Its ranks count through the commands, in their order.
type Spawn struct {
	Commands   []Command `json:"commands"`
	Parent     string    `json:"parent"`               // the port to which the new job's rank 0 connects
	Errhandler string    `json:"errhandler,omitempty"` // its initial error handler, one of Errhandlers
}

// Spawned is the launcher's answer to Spawn, when each process has either called MPI_Init or failed.
type Spawned struct {
	Codes []int32 `json:"codes"`          // for each process that was asked for: 0, or an MPI error class
	Text  string  `json:"text,omitempty"` // why, in one sentence, if a code is not 0
	Size  int32   `json:"size"`           // processes of the new job's MPI_COMM_WORLD; 0: there is no new job
}
