import AlcedoCore
private import CCURLShim
import FoundationEssentials

/// The options of a transport in the form that libcurl expects.
struct CURLSettings: Sendable {
    private let options: CURLOptions

    init(_ options: CURLOptions) { self.options = options }

    var maxConcurrentTransfers: Int { max(1, options.maxConcurrentTransfers) }
    var maxConcurrentTransfersPerHost: Int { max(1, options.maxConcurrentTransfersPerHost) }
    var connectTimeout: Duration? { options.connectTimeout.flatMap { $0 > .zero ? $0 : nil } }
    var decodesContent: Bool { options.decodesContent }
    var keepsCookies: Bool { options.keepsCookies }
    var decodedByteLimit: Int { options.decodedByteLimit }
    var allowsPrivateAddresses: Bool { options.allowsPrivateAddresses }

    /// Returns the public keys that a server may have, in libcurl's format; nil if any key is allowed.
    func pinnedKeys(of host: String) -> String? {
        guard let pins = options.pinnedKeys[host], !pins.isEmpty else { return nil }
        return pins.map(\.text).sorted().joined(separator: ";")
    }

    /// Returns whether the certificate of a server is checked.
    func verifies(_ host: String) -> Bool { !options.trustedHosts.contains(host) }

    /// Creates libcurl's part of the loop. Returns nil if the process has no memory or file descriptor left.
    func makeLoop() -> OpaquePointer? {
        withCString(proxy) { proxy in
            withCString(file) { file in
                withBytes { bytes in
                    var settings = alcedo_curl_settings(
                        connections: maxConcurrentTransfers, version: version,
                        shares_connections: options.sharesConnections ? 1 : 0,
                        keeps_cookies: options.keepsCookies ? 1 : 0, proxy: proxy, ca_file: file,
                        ca_bytes: bytes?.baseAddress?.assumingMemoryBound(to: UInt8.self), ca_count: bytes?.count ?? 0)
                    return alcedo_curl_loop_create(&settings)
                }
            }
        }
    }

    private var version: alcedo_curl_version {
        switch options.version {
        case .automatic: ALCEDO_CURL_HTTP_AUTOMATIC
        case .http1: ALCEDO_CURL_HTTP_1
        case .http2: ALCEDO_CURL_HTTP_2
        }
    }

    private var proxy: String? {
        switch options.proxy {
        case .environment: nil
        case .none: ""
        case .url(let url): url.absoluteString
        }
    }

    private var file: String? {
        if case .file(let url) = options.authorities { url.path } else { nil }
    }

    private func withCString<Result>(_ text: String?, _ body: (UnsafePointer<CChar>?) -> Result) -> Result {
        if let text { text.withCString(body) } else { body(nil) }
    }

    private func withBytes<Result>(_ body: (UnsafeRawBufferPointer?) -> Result) -> Result {
        guard case .pem(let data) = options.authorities else { return body(nil) }
        // The line feed keeps the data from being empty: an empty buffer has no address, and libcurl would use the
        // system's authorities.
        return (data + [0x0A]).withUnsafeBytes { body($0) }
    }
}
