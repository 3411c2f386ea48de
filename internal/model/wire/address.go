package wire

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// Address checks the base URL of a candidate, or its API's default when none is configured, and
// returns it without a trailing slash. It holds no secrets: a URL with a user or a query is refused.
func Address(configured, fallback string) (string, error) {
	if configured == "" {
		configured = fallback
	}
	u, err := url.Parse(configured)
	if err != nil {
		return "", fmt.Errorf("base URL: %w", errors.Unwrap(err)) // the outer error quotes the URL
	}
	switch {
	case (u.Scheme != "http" && u.Scheme != "https") || u.Host == "":
		return "", errors.New("base URL: want http://host or https://host")
	case u.User != nil:
		return "", errors.New("base URL: it holds a user or password; configure the key by apiKeyEnv or apiKeyFile")
	case u.RawQuery != "" || u.Fragment != "":
		return "", errors.New("base URL: a query or fragment is not supported")
	}
	return strings.TrimRight(u.String(), "/"), nil
}
