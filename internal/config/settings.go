package config

import (
	"errors"
	"reflect"
	"slices"
	"strings"

	"recap/internal/config/settings"
)

// settingKeys are the values of c that settings.Table describes, by their names.
func settingKeys(c *Config) map[string]key {
	keys := map[string]key{}
	for _, k := range scalarKeys(reflect.ValueOf(c).Elem(), "") {
		if _, ok := settings.Lookup(k.path); ok {
			keys[k.path] = k
		}
	}
	return keys
}

// setDefaults gives every setting the default of settings.Table.
func (c *Config) setDefaults() {
	for path, k := range settingKeys(c) {
		if s, _ := settings.Lookup(path); s.Default != "" {
			if err := setText(k.value, s.Default); err != nil {
				panic("default of " + path + ": " + err.Error()) // a mistake in the table, found by any test
			}
		}
	}
}

// checkSettings holds every setting to settings.Table. What a settings file says was checked when it
// was read.
func (c *Config) checkSettings(bad reporter) {
	keys := settingKeys(c)
	for _, s := range settings.Table {
		if c.where(s.Name).Kind == FromSettings {
			continue
		}
		if wrong := s.Check(plain(keys[s.Name].value)); wrong != "" {
			bad(s.Name, "%s", wrong)
		}
	}
}

// migrateFile gives the retired settings in recap.yaml to their successors. Unlike in an agent's own
// file, a strategy that never was one is a mistake and stays as it is, for check to find.
func (c *Config) migrateFile(retired []settings.Value, p *problems) {
	values := slices.Clone(retired)
	keys := settingKeys(c)
	for _, name := range []string{"compaction.strategy", "compaction.enabled", "compaction.threshold", "compaction.model"} {
		o, set := c.loaded.origins[name]
		text := plain(keys[name].value)
		if !set || name == "compaction.strategy" && !slices.Contains(settings.LegacyStrategies, strings.ToLower(text)) {
			continue
		}
		values = append(values, settings.Value{Key: name, Text: text, Where: o.Detail, Line: o.line})
	}
	m := settings.Migrate(values)
	for name, v := range m.Values {
		if v.From != "" {
			c.take(keys[name], v, Origin{Kind: FromFile, Detail: v.Where, line: v.Line}, p)
		}
	}
	for _, n := range m.Notes {
		if n.Key != "compaction.threshold" { // check refuses what is no threshold
			c.loaded.notes = append(c.loaded.notes, n)
		}
	}
	for _, w := range m.Problems {
		if settings.Retired(w.Key) { // check finds the others
			p.addAt(Origin{Detail: w.Where, line: w.Line}, w.Key, "%s", w.Message)
		}
	}
}

// take sets one value from a settings file or from a retired key.
func (c *Config) take(k key, v settings.Value, o Origin, p *problems) {
	if err := setText(k.value, v.Text); err != nil {
		p.addAt(o, k.path, "%v", err)
		return
	}
	c.loaded.origins[k.path] = o
	if k.path == "compaction.threshold" {
		c.Compaction.thresholdFrom = v.From
	}
}

// forgetRetired says that a stronger source has set a value that came from a retired key.
func (c *Config) forgetRetired(path string) {
	if path == "compaction.threshold" {
		c.Compaction.thresholdFrom = ""
	}
}

// readSettings reads the agents' settings files. They set what nothing else sets: recap's own file,
// its environment and its flags are about recap, and beat them.
func (s Sources) readSettings(c *Config, home string, p *problems) {
	for i, path := range c.Settings {
		c.Settings[i] = expand(path, home)
	}
	read, err := settings.Read(c.Settings...)
	if err != nil {
		origin := c.where("settings")
		var re *settings.ReadError
		if errors.As(err, &re) {
			p.addAt(origin, "settings", "%s cannot be read: %v", re.Path, re.Err)
		} else {
			p.addAt(origin, "settings", "%v", err)
		}
		return
	}
	keys := settingKeys(c)
	for _, k := range settings.Table {
		v, ok := read.Values[k.Name]
		if _, set := c.loaded.origins[k.Name]; !ok || set {
			continue
		}
		c.take(keys[k.Name], v, Origin{Kind: FromSettings, Detail: v.Where}, p)
	}
	c.loaded.notes = append(c.loaded.notes, read.Notes...)
	c.loaded.unknown = read.Unknown
	for _, w := range read.Problems {
		p.add(w.Where, w.Key, "%s", w.Message)
	}
	c.settleChain()
}

// settleChain leaves out of a settings file's chain what recap has no candidate for: an agent knows
// more models than recap does, and names them by role, too.
func (c *Config) settleChain() {
	origin := c.where("compaction.model")
	if origin.Kind != FromSettings {
		return
	}
	note := func(format string, name string) {
		c.loaded.notes = append(c.loaded.notes, settings.Note{
			Where: origin.Detail, Key: "compaction.model", Message: strings.ReplaceAll(format, "%", name),
		})
	}
	var chain []string
	for _, name := range c.Compaction.Model {
		base, _, level := cutLevel(name)
		_, whole := c.Model(name)
		_, known := c.Model(base)
		switch {
		case whole:
			chain = append(chain, name)
		case level && known:
			chain = append(chain, base)
			note("% asks for a reasoning effort: set effort of the candidate under models", name)
		default:
			note("% is not configured under models and is not asked", name)
		}
	}
	c.Compaction.Model = chain
}

// cutLevel takes a reasoning effort off the name of a candidate: v/m:high.
func cutLevel(name string) (base, level string, ok bool) {
	i := strings.LastIndexByte(name, ':')
	if i < 0 || !slices.Contains(thinkingLevels, name[i+1:]) {
		return name, "", false
	}
	return name[:i], name[i+1:], true
}

// clampSettings brings numbers of clamped settings within their range.
func (c *Config) clampSettings() {
	keys := settingKeys(c)
	for _, s := range settings.Table {
		if !s.Clamped {
			continue
		}
		v := keys[s.Name].value
		if n := s.Clamp(v.Int()); n != v.Int() {
			o := c.where(s.Name)
			c.loaded.notes = append(c.loaded.notes, settings.Note{
				Where: o.Detail, Key: s.Name, Message: plain(v) + " counts as " + itoa(int(n)),
			})
			v.SetInt(n)
		}
	}
}

// Notes tells what a person should know about the configuration although nothing is wrong: what was
// migrated, adjusted or left without effect, in the order it was found.
func (c *Config) Notes() []settings.Note { return slices.Clone(c.loaded.notes) }

// UnknownSettings lists the keys of agents' settings files that are not recap's: they were ignored.
func (c *Config) UnknownSettings() []string { return slices.Clone(c.loaded.unknown) }
