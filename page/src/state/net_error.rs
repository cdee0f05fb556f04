//! Chromium's network errors: names, which CDP gives, and numbers, which it does not. Pure.
//!
//! Source: Chromium, `net/base/net_error_list.h`.

/// `ERR_FAILED`: also what stands for every name that this table does not know.
pub const FAILED: i32 = -2;

/// Its name.
pub(super) const FAILED_NAME: &str = "net::ERR_FAILED";

/// The number for a name, with or without `net::`; [`FAILED`] for one that is not known.
pub fn code(name: &str) -> i32 {
    let name = name.strip_prefix("net::").unwrap_or(name);
    let Some(name) = name.strip_prefix("ERR_") else { return FAILED };
    let known = TABLE.iter().find(|(known, _)| *known == name);
    known.map_or(FAILED, |(_, code)| *code)
}

/// The name of the error that an error page shows; none for one that cannot be made out.
///
/// Measured: a page for a failed request shows `ERR_CONNECTION_REFUSED`, one for a bad certificate
/// `net::ERR_CERT_AUTHORITY_INVALID`, one for a status without a body `HTTP ERROR 404`. While
/// Chromium looks for the cause of a failed look-up, `DNS_PROBE_STARTED` and the like take the place of
/// `ERR_NAME_NOT_RESOLVED`.
pub(super) fn shown(text: &str) -> Option<String> {
    let text = text.trim();
    let name = text.strip_prefix("net::").unwrap_or(text);
    let word = name.len() < 100 && name.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'_');
    if word && name.starts_with("ERR_") {
        return Some(format!("net::{name}"));
    }
    if name.starts_with("DNS_PROBE_") {
        return Some("net::ERR_NAME_NOT_RESOLVED".into());
    }
    // The words around the status are those of the browser's language.
    let status = name.rsplit(' ').next().and_then(|it| it.parse::<u16>().ok());
    status.filter(|it| (400..600).contains(it)).map(|_| "net::ERR_HTTP_RESPONSE_CODE_FAILURE".into())
}

#[rustfmt::skip]
const TABLE: &[(&str, i32)] = &[
    ("IO_PENDING", -1), ("FAILED", -2), ("ABORTED", -3), ("INVALID_ARGUMENT", -4), ("INVALID_HANDLE", -5),
    ("FILE_NOT_FOUND", -6), ("TIMED_OUT", -7), ("FILE_TOO_BIG", -8), ("UNEXPECTED", -9),
    ("ACCESS_DENIED", -10), ("NOT_IMPLEMENTED", -11), ("INSUFFICIENT_RESOURCES", -12),
    ("OUT_OF_MEMORY", -13), ("UPLOAD_FILE_CHANGED", -14), ("SOCKET_NOT_CONNECTED", -15),
    ("FILE_EXISTS", -16), ("FILE_PATH_TOO_LONG", -17), ("FILE_NO_SPACE", -18), ("FILE_VIRUS_INFECTED", -19),
    ("BLOCKED_BY_CLIENT", -20), ("NETWORK_CHANGED", -21), ("BLOCKED_BY_ADMINISTRATOR", -22),
    ("SOCKET_IS_CONNECTED", -23), ("UPLOAD_STREAM_REWIND_NOT_SUPPORTED", -25), ("CONTEXT_SHUT_DOWN", -26),
    ("BLOCKED_BY_RESPONSE", -27), ("CLEARTEXT_NOT_PERMITTED", -29), ("BLOCKED_BY_CSP", -30),
    ("BLOCKED_BY_ORB", -32), ("NETWORK_ACCESS_REVOKED", -33), ("BLOCKED_BY_FINGERPRINTING_PROTECTION", -34),
    ("BLOCKED_IN_INCOGNITO_BY_ADMINISTRATOR", -35), ("LOCAL_NETWORK_PERMISSION_MISSING", -36),
    ("STRICT_ECH_REQUIRED", -37),
    ("CONNECTION_CLOSED", -100), ("CONNECTION_RESET", -101), ("CONNECTION_REFUSED", -102),
    ("CONNECTION_ABORTED", -103), ("CONNECTION_FAILED", -104), ("NAME_NOT_RESOLVED", -105),
    ("INTERNET_DISCONNECTED", -106), ("SSL_PROTOCOL_ERROR", -107), ("ADDRESS_INVALID", -108),
    ("ADDRESS_UNREACHABLE", -109), ("SSL_CLIENT_AUTH_CERT_NEEDED", -110),
    ("TUNNEL_CONNECTION_FAILED", -111), ("SSL_VERSION_OR_CIPHER_MISMATCH", -113),
    ("SSL_RENEGOTIATION_REQUESTED", -114), ("PROXY_AUTH_UNSUPPORTED", -115),
    ("BAD_SSL_CLIENT_AUTH_CERT", -117), ("CONNECTION_TIMED_OUT", -118),
    ("HOST_RESOLVER_QUEUE_TOO_LARGE", -119), ("SOCKS_CONNECTION_FAILED", -120),
    ("SOCKS_CONNECTION_HOST_UNREACHABLE", -121), ("ALPN_NEGOTIATION_FAILED", -122),
    ("SSL_NO_RENEGOTIATION", -123), ("SSL_DECOMPRESSION_FAILURE_ALERT", -125),
    ("SSL_BAD_RECORD_MAC_ALERT", -126), ("PROXY_CONNECTION_FAILED", -130),
    ("MANDATORY_PROXY_CONFIGURATION_FAILED", -131), ("SSL_CLIENT_AUTH_PRIVATE_KEY_ACCESS_DENIED", -134),
    ("SSL_CLIENT_AUTH_CERT_NO_PRIVATE_KEY", -135), ("PROXY_CERTIFICATE_INVALID", -136),
    ("NAME_RESOLUTION_FAILED", -137), ("NETWORK_ACCESS_DENIED", -138), ("TEMPORARILY_THROTTLED", -139),
    ("SSL_CLIENT_AUTH_SIGNATURE_FAILED", -141), ("MSG_TOO_BIG", -142), ("ADDRESS_IN_USE", -147),
    ("SSL_PINNED_KEY_NOT_IN_CERT_CHAIN", -150), ("CLIENT_AUTH_CERT_TYPE_UNSUPPORTED", -151),
    ("SSL_DECRYPT_ERROR_ALERT", -153), ("SSL_SERVER_CERT_CHANGED", -156),
    ("SSL_UNRECOGNIZED_NAME_ALERT", -159), ("ICANN_NAME_COLLISION", -166),
    ("SSL_SERVER_CERT_BAD_FORMAT", -167), ("SSL_OBSOLETE_CIPHER", -172), ("NO_BUFFER_SPACE", -176),
    ("SSL_CLIENT_AUTH_NO_COMMON_ALGORITHMS", -177), ("EARLY_DATA_REJECTED", -178),
    ("WRONG_VERSION_ON_EARLY_DATA", -179), ("TLS13_DOWNGRADE_DETECTED", -180),
    ("SSL_KEY_USAGE_INCOMPATIBLE", -181), ("INVALID_ECH_CONFIG_LIST", -182), ("ECH_NOT_NEGOTIATED", -183),
    ("ECH_FALLBACK_CERTIFICATE_INVALID", -184),
    ("CERT_COMMON_NAME_INVALID", -200), ("CERT_DATE_INVALID", -201), ("CERT_AUTHORITY_INVALID", -202),
    ("CERT_CONTAINS_ERRORS", -203), ("CERT_NO_REVOCATION_MECHANISM", -204),
    ("CERT_UNABLE_TO_CHECK_REVOCATION", -205), ("CERT_REVOKED", -206), ("CERT_INVALID", -207),
    ("CERT_WEAK_SIGNATURE_ALGORITHM", -208), ("CERT_NON_UNIQUE_NAME", -210), ("CERT_WEAK_KEY", -211),
    ("CERT_NAME_CONSTRAINT_VIOLATION", -212), ("CERT_VALIDITY_TOO_LONG", -213),
    ("CERTIFICATE_TRANSPARENCY_REQUIRED", -214), ("CERT_KNOWN_INTERCEPTION_BLOCKED", -217),
    ("CERT_SELF_SIGNED_LOCAL_NETWORK", -219),
    ("INVALID_URL", -300), ("DISALLOWED_URL_SCHEME", -301), ("UNKNOWN_URL_SCHEME", -302),
    ("INVALID_REDIRECT", -303), ("TOO_MANY_REDIRECTS", -310), ("UNSAFE_REDIRECT", -311),
    ("UNSAFE_PORT", -312), ("INVALID_RESPONSE", -320), ("INVALID_CHUNKED_ENCODING", -321),
    ("METHOD_NOT_SUPPORTED", -322), ("UNEXPECTED_PROXY_AUTH", -323), ("EMPTY_RESPONSE", -324),
    ("RESPONSE_HEADERS_TOO_BIG", -325), ("REQUEST_RANGE_NOT_SATISFIABLE", -328),
    ("MALFORMED_IDENTITY", -329), ("CONTENT_DECODING_FAILED", -330), ("NETWORK_IO_SUSPENDED", -331),
    ("NO_SUPPORTED_PROXIES", -336), ("HTTP2_PROTOCOL_ERROR", -337), ("INVALID_AUTH_CREDENTIALS", -338),
    ("UNSUPPORTED_AUTH_SCHEME", -339), ("ENCODING_DETECTION_FAILED", -340),
    ("MISSING_AUTH_CREDENTIALS", -341), ("UNEXPECTED_SECURITY_LIBRARY_STATUS", -342),
    ("MISCONFIGURED_AUTH_ENVIRONMENT", -343), ("UNDOCUMENTED_SECURITY_LIBRARY_STATUS", -344),
    ("RESPONSE_BODY_TOO_BIG_TO_DRAIN", -345), ("RESPONSE_HEADERS_MULTIPLE_CONTENT_LENGTH", -346),
    ("INCOMPLETE_HTTP2_HEADERS", -347), ("RESPONSE_HEADERS_MULTIPLE_CONTENT_DISPOSITION", -349),
    ("RESPONSE_HEADERS_MULTIPLE_LOCATION", -350), ("HTTP2_SERVER_REFUSED_STREAM", -351),
    ("HTTP2_PING_FAILED", -352), ("CONTENT_LENGTH_MISMATCH", -354), ("INCOMPLETE_CHUNKED_ENCODING", -355),
    ("QUIC_PROTOCOL_ERROR", -356), ("RESPONSE_HEADERS_TRUNCATED", -357), ("QUIC_HANDSHAKE_FAILED", -358),
    ("HTTP2_INADEQUATE_TRANSPORT_SECURITY", -360), ("HTTP2_FLOW_CONTROL_ERROR", -361),
    ("HTTP2_FRAME_SIZE_ERROR", -362), ("HTTP2_COMPRESSION_ERROR", -363), ("HTTP_1_1_REQUIRED", -365),
    ("PROXY_HTTP_1_1_REQUIRED", -366), ("INVALID_HTTP_RESPONSE", -370),
    ("CONTENT_DECODING_INIT_FAILED", -371), ("HTTP2_RST_STREAM_NO_ERROR_RECEIVED", -372),
    ("TOO_MANY_RETRIES", -375), ("HTTP2_STREAM_CLOSED", -376), ("HTTP_RESPONSE_CODE_FAILURE", -379),
    ("QUIC_CERT_ROOT_NOT_KNOWN", -380), ("QUIC_GOAWAY_REQUEST_CAN_BE_RETRIED", -381),
    ("TOO_MANY_ACCEPT_CH_RESTARTS", -382), ("INCONSISTENT_IP_ADDRESS_SPACE", -383),
    ("CACHED_IP_ADDRESS_SPACE_BLOCKED_BY_LOCAL_NETWORK_ACCESS_POLICY", -384),
    ("BLOCKED_BY_LOCAL_NETWORK_ACCESS_CHECKS", -385), ("ZSTD_WINDOW_SIZE_TOO_BIG", -386),
    ("DICTIONARY_LOAD_FAILED", -387), ("UNEXPECTED_CONTENT_DICTIONARY_HEADER", -388),
    ("CACHE_MISS", -400), ("CACHE_READ_FAILURE", -401), ("CACHE_WRITE_FAILURE", -402),
    ("CACHE_OPERATION_NOT_SUPPORTED", -403), ("CACHE_OPEN_FAILURE", -404), ("CACHE_CREATE_FAILURE", -405),
    ("CACHE_RACE", -406), ("CACHE_CHECKSUM_READ_FAILURE", -407), ("CACHE_CHECKSUM_MISMATCH", -408),
    ("CACHE_LOCK_TIMEOUT", -409), ("INSECURE_RESPONSE", -501), ("INVALID_SIGNED_EXCHANGE", -504),
    ("INVALID_WEB_BUNDLE", -505),
    ("DNS_MALFORMED_RESPONSE", -800), ("DNS_SERVER_REQUIRES_TCP", -801), ("DNS_TIMED_OUT", -803),
    ("DNS_CACHE_MISS", -804), ("DNS_SEARCH_EMPTY", -805), ("DNS_SORT_ERROR", -806),
    ("DNS_SECURE_RESOLVER_HOSTNAME_RESOLUTION_FAILED", -808), ("DNS_NAME_HTTPS_ONLY", -809),
    ("DNS_SERVER_FAILURE", -817), ("DNS_REFUSED", -819),
];

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn names_have_numbers_and_an_unknown_one_is_a_plain_failure() {
        assert_eq!(code("net::ERR_CONNECTION_REFUSED"), -102);
        assert_eq!(code("ERR_NAME_NOT_RESOLVED"), -105);
        assert_eq!(code("net::ERR_HTTP_RESPONSE_CODE_FAILURE"), -379);
        assert_eq!(code(FAILED_NAME), FAILED);
        assert_eq!(code("net::ERR_OF_NEXT_YEAR"), FAILED);
        assert_eq!(code("something else"), FAILED);
    }

    #[test]
    fn no_name_and_no_number_is_there_twice() {
        let names: HashSet<_> = TABLE.iter().map(|(name, _)| name).collect();
        let numbers: HashSet<_> = TABLE.iter().map(|(_, number)| number).collect();
        assert!(names.len() == TABLE.len() && numbers.len() == TABLE.len());
    }

    #[test]
    fn what_error_pages_show_becomes_a_name() {
        let named = |text| shown(text).unwrap_or_default();
        assert_eq!(named(" ERR_EMPTY_RESPONSE\n"), "net::ERR_EMPTY_RESPONSE");
        assert_eq!(named("net::ERR_CERT_AUTHORITY_INVALID"), "net::ERR_CERT_AUTHORITY_INVALID");
        assert_eq!(named("HTTP ERROR 404"), "net::ERR_HTTP_RESPONSE_CODE_FAILURE");
        assert_eq!(named("DNS_PROBE_FINISHED_NXDOMAIN"), "net::ERR_NAME_NOT_RESOLVED");
        assert_eq!(shown(""), None);
        assert_eq!(shown("ERR_<b>"), None);
    }
}
