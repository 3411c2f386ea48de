package housetest

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/stretchr/testify/require"

	"recap/internal/contract"
	"recap/internal/telemetry"
	"recap/internal/testkit/repo"
)

// TestPrometheusFiles runs Prometheus' own checker over its configuration and the rules, and the
// rules' tests.
func TestPrometheusFiles(t *testing.T) {
	t.Parallel()
	promtool, err := exec.LookPath("promtool")
	if err != nil {
		repo.Need(t, "promtool", "it comes with Prometheus (Debian: apt-get install prometheus)")
	}
	for _, args := range [][]string{
		{"check", "config", "prometheus.yml"},
		{"check", "rules", "rules.yml"},
		{"test", "rules", "rules_test.yml"},
	} {
		cmd := exec.CommandContext(t.Context(), promtool, args...)
		cmd.Dir = filepath.Join(repo.Root(t), "deploy", "prometheus")
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "promtool %s:\n%s", strings.Join(args, " "), out)
	}
}

// TestPrometheusScrapesTheStack follows the scrape targets to services of the compose file.
func TestPrometheusScrapesTheStack(t *testing.T) {
	t.Parallel()
	var cfg struct {
		Scrapes []struct {
			Job     string `yaml:"job_name"`
			Statics []struct {
				Targets []string `yaml:"targets"`
			} `yaml:"static_configs"`
		} `yaml:"scrape_configs"`
	}
	require.NoError(t, yaml.Unmarshal([]byte(repo.Read(t, "deploy/prometheus/prometheus.yml")), &cfg))
	c := load(t)
	got := map[string]string{}
	for _, s := range cfg.Scrapes {
		for _, st := range s.Statics {
			for _, target := range st.Targets {
				name, _, _ := strings.Cut(target, ":")
				require.Contains(t, c.Services, name, "job %s scrapes it", s.Job)
				got[s.Job] = target
			}
		}
	}
	_, metricsPort, _ := strings.Cut(workerConfig(t, c).Worker.MetricsAddress, ":")
	_, temporalPort, _ := strings.Cut(c.Services["temporal"].Environment["PROMETHEUS_ENDPOINT"], ":")
	require.Equal(t, map[string]string{"recap": "worker:" + metricsPort, "temporal": "temporal:" + temporalPort}, got)
}

// dashboard is what the tests read of a Grafana dashboard.
type dashboard struct {
	UID    string `json:"uid"`
	Panels []struct {
		ID         int    `json:"id"`
		Title      string `json:"title"`
		Datasource struct {
			UID string `json:"uid"`
		} `json:"datasource"`
		GridPos struct{ X, Y, W, H int } `json:"gridPos"`
		Targets []struct {
			Expr string `json:"expr"`
		} `json:"targets"`
	} `json:"panels"`
}

func readDashboard(t *testing.T) dashboard {
	t.Helper()
	var d dashboard
	require.NoError(t, json.Unmarshal([]byte(repo.Read(t, "deploy/grafana/dashboards/recap.json")), &d))
	require.NotEmpty(t, d.Panels)
	return d
}

func TestGrafanaDashboard(t *testing.T) {
	t.Parallel()
	var sources struct {
		Datasources []struct {
			UID string `yaml:"uid"`
			URL string `yaml:"url"`
		} `yaml:"datasources"`
	}
	require.NoError(t, yaml.Unmarshal([]byte(repo.Read(t, "deploy/grafana/provisioning/datasources/prometheus.yaml")), &sources))
	require.Len(t, sources.Datasources, 1)
	require.Equal(t, "http://prometheus:9090", sources.Datasources[0].URL)

	ids, cells := map[int]bool{}, map[[2]int]string{}
	for _, p := range readDashboard(t).Panels {
		require.False(t, ids[p.ID], "two panels have id %d", p.ID)
		ids[p.ID] = true
		require.Equal(t, sources.Datasources[0].UID, p.Datasource.UID, p.Title)
		require.NotEmpty(t, p.Targets, p.Title)
		for x := p.GridPos.X; x < p.GridPos.X+p.GridPos.W; x++ {
			for y := p.GridPos.Y; y < p.GridPos.Y+p.GridPos.H; y++ {
				require.Empty(t, cells[[2]int{x, y}], "%s lies on another panel", p.Title)
				require.Less(t, x, 24, "%s is wider than the grid", p.Title)
				cells[[2]int{x, y}] = p.Title
			}
		}
	}
	require.Contains(t, repo.Read(t, "docker-compose.yml"), "./deploy/grafana/dashboards:/etc/grafana/dashboards:ro")
	require.Contains(t, repo.Read(t, "deploy/grafana/provisioning/dashboards/recap.yaml"), "path: /etc/grafana/dashboards")
}

// metric is a family of metrics that a worker serves.
type metric struct {
	name, kind, help string
	labels           []string
}

// served lists the metrics of a worker with one candidate, by name.
func served(t *testing.T) []metric {
	t.Helper()
	registry := telemetry.NewMetrics(telemetry.Options{Candidates: []string{"provider/model"}, GateReasons: []contract.Code{contract.CodeGateRefused}}).Registry()
	families, err := registry.Gather()
	require.NoError(t, err)
	var list []metric
	for _, f := range families {
		m := metric{name: f.GetName(), kind: strings.ToLower(f.GetType().String()), help: f.GetHelp()}
		for _, l := range f.GetMetric()[0].GetLabel() {
			m.labels = append(m.labels, l.GetName())
		}
		list = append(list, m)
	}
	require.NotEmpty(t, list)
	return list
}

// TestMonitoringUsesMetricsThatExist compares every metric that a rule or a panel reads with those a
// worker serves, and their labels with its labels.
func TestMonitoringUsesMetricsThatExist(t *testing.T) {
	t.Parallel()
	known := map[string]metric{
		// of the Temporal SDK and of Prometheus itself
		"temporal_activity_schedule_to_start_latency_seconds_bucket": {labels: []string{"task_queue", "le"}},
		"temporal_worker_task_slots_available":                       {labels: []string{"task_queue", "worker_type"}},
		"up":                                                         {labels: []string{"job"}},
	}
	for _, m := range served(t) {
		known[m.name] = m
		if m.kind == "histogram" {
			for _, suffix := range []string{"_bucket", "_sum", "_count"} {
				known[m.name+suffix] = metric{labels: append([]string{"le"}, m.labels...)}
			}
		}
	}
	var rules struct {
		Groups []struct {
			Rules []struct {
				Record string `yaml:"record"`
				Alert  string `yaml:"alert"`
				Expr   string `yaml:"expr"`
			} `yaml:"rules"`
		} `yaml:"groups"`
	}
	require.NoError(t, yaml.Unmarshal([]byte(repo.Read(t, "deploy/prometheus/rules.yml")), &rules))
	exprs := map[string]string{}
	for _, g := range rules.Groups {
		for _, r := range g.Rules {
			exprs[r.Record+r.Alert] = r.Expr
			if r.Record != "" {
				known[r.Record] = metric{labels: grouping(r.Expr)}
			}
		}
	}
	for _, p := range readDashboard(t).Panels {
		for _, target := range p.Targets {
			exprs[p.Title+": "+target.Expr] = target.Expr
		}
	}
	name := regexp.MustCompile(`\b((?:recap|temporal)[a-z_]*[:_][a-z0-9_:]+|up)(\{[^}]*\})?`)
	label := regexp.MustCompile(`(\w+)\s*(?:=~|!~|!=|=)`)
	for where, expr := range exprs {
		found := name.FindAllStringSubmatch(expr, -1)
		require.NotEmpty(t, found, "%s reads no metric of ours", where)
		var labels []string
		for _, m := range found {
			_, ok := known[m[1]]
			require.True(t, ok, "%s reads %s, which nobody serves", where, m[1])
			labels = append(labels, known[m[1]].labels...)
			for _, l := range label.FindAllStringSubmatch(m[2], -1) {
				require.Contains(t, known[m[1]].labels, l[1], "%s selects by it", where)
			}
		}
		for _, l := range grouping(expr) {
			require.Contains(t, labels, l, "%s groups by it", where)
		}
	}
}

// grouping lists the labels an expression groups by.
func grouping(expr string) []string {
	var labels []string
	for _, m := range regexp.MustCompile(`by \(([^)]*)\)`).FindAllStringSubmatch(expr, -1) {
		for l := range strings.SplitSeq(m[1], ",") {
			labels = append(labels, strings.TrimSpace(l))
		}
	}
	return labels
}
