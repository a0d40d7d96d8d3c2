package main

func (in input) modules() map[string]string { return nil }
