package activities

import (
	"recap/internal/contract"
	"recap/internal/store"
)

// storeFailure maps a driver's typed failure to the outcome's state and code, the one table for it.
// ok is false for a failure that another try may cure at once: then the activity returns the error.
func storeFailure(err error) (state contract.State, code contract.Code, ok bool) {
	switch store.KindOf(err) {
	case store.KindNotFound:
		return contract.StateFailed, contract.CodeSessionNotFound, true
	case store.KindNotSession, store.KindOutside:
		return contract.StateFailed, contract.CodeNotASession, true
	case store.KindDamaged:
		return contract.StateFailed, contract.CodeDamagedSession, true
	case store.KindUnreadable:
		return contract.StateFailed, contract.CodeUnreadable, true
	case store.KindReadOnly, store.KindNoSpace, store.KindIO:
		return contract.StateFailed, contract.CodeStoreWrite, true
	case store.KindBusy:
		return contract.StateSkipped, contract.CodeBusy, true
	}
	return "", "", false
}
