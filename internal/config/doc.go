// Package config loads recap's configuration: flags over environment over file over defaults
// (DESIGN §9). It checks everything and reports all problems at once, with the line or the variable
// each one comes from, and remembers the origin of every value for the config commands.
//
// The package may import contract, model (the port) and Temporal's envconfig. It opens no
// connections; it reads the configuration file, and secret files only when their value is needed.
package config
