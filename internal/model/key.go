package model

import (
	"errors"
	"strings"
)

// APIKey resolves the key for one call, "" when the candidate needs none. Failures are of
// ClassAuth: an operator has to act.
func (c Config) APIKey() (string, error) {
	if c.Key == nil {
		return "", nil
	}
	key, err := c.Key()
	if err != nil {
		return "", c.Invalid(ClassAuth, err)
	}
	key = strings.TrimSpace(key)
	if strings.ContainsAny(key, "\r\n\x00") {
		return "", c.Invalid(ClassAuth, errors.New("the API key holds a line break; check the file or variable it is read from"))
	}
	return key, nil
}

// Secrets lists what must not be repeated: the key, and the values of configured headers, which may
// authenticate as well.
func (c Config) Secrets(key string) []string {
	secrets := []string{key}
	for _, value := range c.Headers {
		secrets = append(secrets, value)
	}
	return secrets
}

// Invalid is the error of a request that was not sent.
func (c Config) Invalid(class Class, why error) *Error {
	return &Error{Class: class, Candidate: c.ID, Phase: PhasePrepare, Err: why}
}
