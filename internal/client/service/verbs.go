package service

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"github.com/google/uuid"

	"recap/internal/blob"
	"recap/internal/client"
	"recap/internal/client/record"
	"recap/internal/contract"
)

// verb does one command: JSON in, a value to send as JSON out (or []byte, sent as it is).
type verb func(ctx context.Context, data []byte) (any, error)

func (s *Service) verbs() map[string]verb {
	verbs := map[string]verb{
		"compact": s.compact,
		"retry":   s.retry,
		"cancel":  s.cancel,
		"status":  s.status,
		"result":  s.result,
		"blob":    s.blob,
	}
	if s.cfg.Serve != nil {
		verbs[VerbServe] = s.serve
	}
	return verbs
}

// VerbServe asks the worker of an embedded stack to work on the folder of a session.
const VerbServe = "serve"

// Served is both the body of serve and its answer.
type Served struct {
	Path string `json:"path"` // absolute
}

func (s *Service) serve(_ context.Context, data []byte) (any, error) {
	var body Served
	if err := decode(data, &body); err != nil {
		return nil, err
	}
	return body, s.cfg.Serve(body.Path)
}

// session is a caller's word for a session: a string (an id or a path), or a whole reference.
type session struct {
	name string
	ref  contract.SessionRef
}

func (n *session) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '"' {
		return json.Unmarshal(data, &n.name)
	}
	return json.Unmarshal(data, &n.ref)
}

func (s *Service) resolve(ctx context.Context, n session) (contract.SessionRef, error) {
	if n.name != "" {
		return s.cfg.Resolve(ctx, n.name)
	}
	if n.ref.Tenant == "" {
		n.ref.Tenant = s.cfg.Tenant
	}
	if err := n.ref.Validate(); err != nil {
		return n.ref, &badRequest{err: err}
	}
	return n.ref, nil
}

// request is the body of compact: contract.Request, where session may also be a string and
// requestId may be left out (then every command is an operation of its own).
type request struct {
	contract.Request
	Session session `json:"session"`
}

func (s *Service) compact(ctx context.Context, data []byte) (any, error) {
	var body request
	if err := decode(data, &body); err != nil {
		return nil, err
	}
	ref, err := s.resolve(ctx, body.Session)
	if err != nil {
		return nil, err
	}
	req := body.Request
	req.Session = ref
	if req.RequestID == "" {
		req.RequestID = uuid.NewString()
	}
	return s.cfg.Client.Submit(ctx, req)
}

// name is the body of retry, cancel, status and result: an operation, or the session it works on.
type name struct {
	Operation string   `json:"operation"`
	Session   *session `json:"session"`
	Tenant    string   `json:"tenant"`
}

func (s *Service) named(ctx context.Context, data []byte) (client.Name, error) {
	var body name
	if err := decode(data, &body); err != nil {
		return client.Name{}, err
	}
	if body.Operation != "" {
		return client.ParseName(body.Operation), nil
	}
	if body.Session == nil {
		return client.Name{}, &badRequest{err: fmt.Errorf("name an operation or a session")}
	}
	ref, err := s.resolve(ctx, *body.Session)
	return client.Name{Session: &ref}, err
}

func (s *Service) retry(ctx context.Context, data []byte) (any, error) {
	n, err := s.named(ctx, data)
	if err != nil {
		return nil, err
	}
	return s.cfg.Client.Retry(ctx, n)
}

func (s *Service) cancel(ctx context.Context, data []byte) (any, error) {
	n, err := s.named(ctx, data)
	if err != nil {
		return nil, err
	}
	return s.cfg.Client.Cancel(ctx, n)
}

func (s *Service) status(ctx context.Context, data []byte) (any, error) {
	n, err := s.named(ctx, data)
	if err != nil {
		return nil, err
	}
	return s.cfg.Client.Status(ctx, n)
}

// result answers from the blob store alone, so it works while the Temporal server is away.
func (s *Service) result(ctx context.Context, data []byte) (any, error) {
	var body name
	if err := decode(data, &body); err != nil {
		return nil, err
	}
	if body.Operation == "" {
		return nil, &badRequest{err: fmt.Errorf("name an operation")}
	}
	if body.Tenant == "" {
		body.Tenant = s.cfg.Tenant
	}
	c, err := record.Read(ctx, s.cfg.Blobs, body.Tenant, body.Operation)
	if err != nil {
		return nil, err
	}
	return s.bounded(c)
}

// digest is the body of blob.
type digest struct {
	Digest blob.Digest `json:"digest"`
}

func (s *Service) blob(ctx context.Context, data []byte) (any, error) {
	var body digest
	if err := decode(data, &body); err != nil {
		return nil, err
	}
	if !body.Digest.Valid() {
		return nil, &badRequest{err: fmt.Errorf("%q is no digest: 64 hex digits are", body.Digest)}
	}
	content, err := s.cfg.Blobs.Get(ctx, body.Digest)
	if err != nil {
		return nil, err
	}
	return content, s.fits(len(content))
}

func (s *Service) bounded(v any) (any, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return data, s.fits(len(data))
}

func (s *Service) fits(size int) error {
	if limit := s.cfg.Conn.MaxPayload(); int64(size) > limit {
		return &tooLarge{size: size, limit: limit}
	}
	return nil
}

func decode(data []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return &badRequest{err: err}
	}
	return nil
}
