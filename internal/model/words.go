package model

import "strings"

// Codes and types that mean one class, whoever sends them and with whatever status (spec/providers
// §3.3). Keys are lower case. ClassPayload stands for "too many bytes" and is weighed against the
// estimate.
var exactWords = map[string]Class{
	// The input does not fit.
	"context_length_exceeded": ClassOverflow, "context_window_exceeded": ClassOverflow,
	"string_above_max_length": ClassOverflow, "array_above_max_length": ClassOverflow,
	"exceed_context_size_error": ClassOverflow, "token_limit_exceeded": ClassOverflow,
	"string_too_long": ClassOverflow, "contextwindowexceedederror": ClassOverflow,
	"model_context_window_exceeded": ClassOverflow,
	"request_too_large":             ClassPayload, "payload_too_large": ClassPayload,
	"request_body_too_large_after_decoding": ClassPayload,

	// The provider will not answer this content.
	"content_filter": ClassRefused, "responsibleaipolicyviolation": ClassRefused,
	"content_policy_violation": ClassRefused, "contentpolicyviolationerror": ClassRefused,
	"invalid_prompt": ClassRefused, "bio_policy": ClassRefused, "refusal": ClassRefused,
	"misalignment_policy_violation": ClassRefused, "content_blocked": ClassRefused,

	// The request is wrong for this candidate.
	"unsupported_parameter": ClassInvalid, "unsupported_value": ClassInvalid, "invalid_value": ClassInvalid,
	"unknown_parameter": ClassInvalid, "missing_required_parameter": ClassInvalid,
	"model_not_found": ClassInvalid, "deploymentnotfound": ClassInvalid, "not_found_error": ClassInvalid,
	"notfounderror": ClassInvalid, "resourcenotfoundexception": ClassInvalid,
	"invalid_encrypted_content": ClassInvalid, "tool_reference_unresolved": ClassInvalid,
	"image_dimensions_too_large": ClassInvalid, "unprocessable": ClassInvalid, "precondition_failed": ClassInvalid,
	"not_supported_error": ClassUnsupported,

	// Credentials.
	"invalid_api_key": ClassAuth, "authentication_error": ClassAuth, "organization_on_hold": ClassAuth,
	"unsupported_country_region_territory": ClassAuth, "api_key_invalid": ClassAuth,
	"key_model_access_denied": ClassAuth, "unauthenticated": ClassAuth, "failed_precondition": ClassAuth,
	"expiredtoken": ClassAuth, "expiredtokenexception": ClassAuth, "unrecognizedclientexception": ClassAuth,
	"accessdeniedexception": ClassAuth, "authentication": ClassAuth, "authenticationerror": ClassAuth,

	// Money, or an allowance that does not come back soon.
	"insufficient_quota": ClassQuota, "credit_balance_exhausted": ClassQuota,
	"organization_spend_limit_exceeded": ClassQuota, "project_spend_limit_exceeded": ClassQuota,
	"organization_usage_limit_exceeded": ClassQuota, "billing_hard_limit_reached": ClassQuota,
	"billing_not_active": ClassQuota, "account_deactivated": ClassQuota, "billing_error": ClassQuota,
	"enforced_spend_limit_reached": ClassQuota, "contract_spend_limit_reached": ClassQuota,
	"budget_exceeded": ClassQuota, "payment_required": ClassQuota, "quota_exceeded": ClassQuota,
	"servicequotaexceededexception": ClassQuota,

	// Too fast.
	"ramp_limit_exceeded": ClassRateLimited, "ratelimiterror": ClassRateLimited,

	// Try again.
	"overloaded_error": ClassTransient, "server_is_overloaded": ClassTransient, "slow_down": ClassTransient,
	"timeout_error": ClassTransient, "compaction_unavailable": ClassTransient,
	"cmek_key_unreachable": ClassTransient, "service_unavailable_error": ClassTransient,
	"unavailable_error": ClassTransient, "resource_unavailable": ClassTransient,
	"provider_overloaded": ClassTransient, "provider_unavailable": ClassTransient,
	"apiconnectionerror": ClassTransient, "midstreamfallbackerror": ClassTransient,
	"serviceunavailableerror": ClassTransient, "modelnotreadyexception": ClassTransient,
	"modeltimeoutexception": ClassTransient, "modelerrorexception": ClassTransient,
	"modelstreamerrorexception": ClassTransient, "deadline_exceeded": ClassTransient,
	"enginedeaderror": ClassTransient,

	"max_tokens_exceeded": ClassTruncated,
}

// Families of codes that mean one class.
var exactPrefixes = []struct {
	prefix string
	class  Class
}{
	{"linked_organization_", ClassQuota},
	{"compaction_", ClassInvalid}, // compaction_unavailable is in exactWords
	{"invalid_image", ClassInvalid},
	{"image_", ClassInvalid},
	{"cyber_policy", ClassRefused},
}

// Words that say no more than a status would. They count where there is no status to go by: in an
// error that comes inside a 200.
var broadWords = map[string]Class{
	"invalid_request_error": ClassInvalid, "invalid_request": ClassInvalid, "invalid_argument": ClassInvalid,
	"badrequesterror": ClassInvalid, "not_found": ClassInvalid,
	"permission_error": ClassAuth, "permission_denied": ClassAuth,
	"server_error": ClassTransient, "api_error": ClassTransient, "internal": ClassTransient,
	"unavailable": ClassTransient, "server": ClassTransient, "timeout": ClassTransient,
}

func exactClass(words []string) (Class, bool) {
	for _, w := range words {
		if class, ok := exactWords[w]; ok {
			return class, true
		}
		for _, p := range exactPrefixes {
			if strings.HasPrefix(w, p.prefix) {
				return p.class, true
			}
		}
	}
	return "", false
}

func broadClass(words []string) (Class, bool) {
	for _, w := range words {
		if class, ok := broadWords[w]; ok {
			return class, true
		}
	}
	return "", false
}
