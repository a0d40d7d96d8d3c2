package shm

func sourceRole(fd, rank int) {}
func sleepyRole(fd, rank int) {}
