// Package config loads recap's configuration: flags over environment over file over an agent's
// settings files over defaults (DESIGN §9). Which compaction settings there are says its sub-package
// settings, which also reads the agents' files. It checks everything and reports all problems at once, with the line or the variable
// each one comes from, and remembers the origin of every value for the config commands.
//
// The package may import pure packages, model (the port) and Temporal's envconfig. It opens no
// connections; it reads the configuration file, the settings files it names, and secret files only
// when their value is needed.
package config
