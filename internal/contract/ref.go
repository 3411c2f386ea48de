package contract

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
)

// SessionRef names one session: the tenant it belongs to, the configured store that holds it, and
// its canonical id in that store. For a session named by path, the id is the path resolved through
// links and made relative to the store's root.
type SessionRef struct {
	Tenant string `json:"tenant"`
	Store  string `json:"store"`
	ID     string `json:"id"`
}

// String renders the reference as tenant/store/id.
func (r SessionRef) String() string { return r.Tenant + "/" + r.Store + "/" + r.ID }

// Key is a short name of the session for ids: 8 hex digits of the SHA-256 of String.
func (r SessionRef) Key() string {
	sum := sha256.Sum256([]byte(r.String()))
	return hex.EncodeToString(sum[:4])
}

// Validate reports what is missing from the reference.
func (r SessionRef) Validate() error {
	switch {
	case r.Tenant == "" || strings.Contains(r.Tenant, "/"):
		return fmt.Errorf("session reference: tenant %q is empty or holds a slash", r.Tenant)
	case r.Store == "" || strings.Contains(r.Store, "/"):
		return fmt.Errorf("session reference: store %q is empty or holds a slash", r.Store)
	case r.ID == "":
		return errors.New("session reference: the session id is empty")
	}
	return nil
}

// CompactID is the workflow id of the compaction of a session.
func CompactID(r SessionRef) string { return "compact/" + r.String() }

// EventsID is the workflow id of the delivery of what one attempt of an operation could not
// publish itself.
func EventsID(r SessionRef, operation string, attempt int) string {
	return fmt.Sprintf("events/%s/%s/%d", operation, r.Key(), attempt)
}

// OperationBlob is the blob name under which the newest receipt of an operation lies.
func OperationBlob(tenant, operation string) string { return "operation/" + tenant + "/" + operation }

// SessionOperationBlob is the blob name of the newest receipt of an operation on one session: callers
// may use one operation id for several sessions.
func SessionOperationBlob(r SessionRef, operation string) string {
	return OperationBlob(r.Tenant, operation) + "/" + r.Key()
}

// UnchangedBlob is the blob name of the receipt of an automatic request that failed on a session that
// ended with this leaf.
func UnchangedBlob(r SessionRef, leaf string) string {
	return "unchanged/" + r.Tenant + "/" + r.Key() + "/" + leaf
}

// ArtifactBlob is the blob name of the originals that a reduction took out of a session; markers in the
// session name the id as artifact://<id>.
func ArtifactBlob(id string) string { return "artifact/" + id }

// AnswerBlob is the blob name of the answer stored under a request key.
func AnswerBlob(key string) string { return "answer/" + key }
