package mpit

import (
	"slices"

	"github.com/libimpi/libimpi/settings"
)

// Category is a group of variables, event types and other categories, all by their indices.
type Category struct {
	Name, About string
	Controls    []int32 // of settings.All
	Variables   []int32
	Events      []int32
	Categories  []int32
}

// Categories are all. The first one has the others, if none of those does.
var Categories = categories()

func categories() []Category {
	all := []Category{{Name: "libimpi", About: "everything that libimpi tells of itself"}}
	for _, g := range settings.Groups {
		all = append(all, Category{Name: g.Name, About: "settings: " + g.About})
	}
	all = append(all, []Category{
		{Name: "process", About: "what the process as a whole does"},
		{Name: "communication", About: "messages, where they wait, and the network that carries them"},
		{Name: "messages", About: "messages and bytes"},
		{Name: "queues", About: "receives and messages that wait for each other"},
		{Name: "network", About: "what goes to other machines and clients"},
		{Name: "algorithms", About: "collective operations, and by which algorithms they are carried out"},
		{Name: "memory", About: "what the library takes for itself"},
	}...)
	find := func(name string) *Category {
		return &all[slices.IndexFunc(all, func(c Category) bool { return c.Name == name })]
	}
	within := map[string]string{"libimpi": "", "messages": "communication", "queues": "communication",
		"network": "communication"}
	for i := range all {
		parent, known := within[all[i].Name]
		if !known {
			parent = "libimpi"
		}
		if parent != "" {
			p := find(parent)
			p.Categories = append(p.Categories, int32(i))
		}
	}
	for i := range settings.All {
		c := find(settings.All[i].Group)
		c.Controls = append(c.Controls, int32(i))
	}
	for i := range Variables {
		c := find(Variables[i].Category)
		c.Variables = append(c.Variables, int32(i))
	}
	for i := range Events {
		c := find(Events[i].Category)
		c.Events = append(c.Events, int32(i))
	}
	return all
}

// FindCategory returns the index of a category, -1 if there is none of that name.
func FindCategory(name string) int {
	return slices.IndexFunc(Categories, func(c Category) bool { return c.Name == name })
}
