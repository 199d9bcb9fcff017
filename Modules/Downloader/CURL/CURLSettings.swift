import AlcedoCore
import AlcedoHTTP
private import CCURLShim
import FoundationEssentials

/// The options of a transport in the form that libcurl expects.
struct CURLSettings: Sendable {
    private let options: CURLOptions
    let clock: any TimeSource

    init(_ options: CURLOptions, clock: any TimeSource = SystemClock()) {
        self.options = options
        self.clock = clock
    }

    var maxConcurrentTransfers: Int { max(1, options.maxConcurrentTransfers) }
    var connectTimeout: Duration? { options.connectTimeout.flatMap { $0 > .zero ? $0 : nil } }
    var decodesContent: Bool { options.decodesContent }
    var keepsCookies: Bool { options.keepsCookies }
    var maximumDecodedByteCount: Int { options.maximumDecodedByteCount }
    var allowsPrivateAddresses: Bool { options.allowsPrivateAddresses }
    var maxConcurrentTransfersPerAddress: Int? { options.maxConcurrentTransfersPerAddress }
    var onWait: (@Sendable (URL, _ isWaiting: Bool) -> Void)? { options.onWait }
    var onAddress: (@Sendable (URL, _ address: String) -> Void)? { options.onAddress }

    /// Returns the public keys that a server may have, in libcurl's format; nil if any key is allowed.
    func pinnedKeys(of host: String) -> String? {
        guard let pins = options.pinnedKeys[host], !pins.isEmpty else { return nil }
        return pins.map(\.text).sorted().joined(separator: ";")
    }

    /// Returns whether the certificate of a server is checked.
    func verifies(_ host: String) -> Bool { !options.trustedHosts.contains(host) }

    private var connectionLimit: Int { max(0, options.connectionLimit ?? maxConcurrentTransfers) }
    /// The maximum idle time in seconds, rounded up; zero for libcurl's.
    private var maximumIdleSeconds: Int {
        guard let time = options.maximumIdleTime, time > .zero else { return 0 }
        let (seconds, fraction) = time.components
        return fraction > 0 && seconds < .max ? Int(seconds) + 1 : Int(seconds)
    }

    /// Creates libcurl's part of the loop.
    ///
    /// - Throws: ``/AlcedoHTTP/HTTPTransportError`` `outOfDescriptors` or `failed`.
    func makeLoop() throws(HTTPTransportError) -> OpaquePointer {
        var status = ALCEDO_CURL_OK
        if let loop = makeLoop(&status) { return loop }
        throw status == ALCEDO_CURL_NO_DESCRIPTORS
            ? .outOfDescriptors : HTTPTransportError(.failed, "cannot start libcurl: out of memory")
    }

    private func makeLoop(_ status: inout alcedo_curl_status) -> OpaquePointer? {
        withCString(proxy) { proxy in
            withCString(file) { file in
                withBytes { bytes in
                    var settings = alcedo_curl_settings(
                        connections: connectionLimit, maximum_idle_s: maximumIdleSeconds, version: version,
                        shares_connections: options.sharesConnections ? 1 : 0,
                        keeps_cookies: options.keepsCookies ? 1 : 0, proxy: proxy, ca_file: file,
                        ca_bytes: bytes?.baseAddress?.assumingMemoryBound(to: UInt8.self), ca_count: bytes?.count ?? 0)
                    return alcedo_curl_loop_create(&settings, &status)
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

    /// Returns whether libcurl connects to a proxy and not to the server of a URL.
    ///
    /// - Parameters:
    ///   - url: The URL of a request.
    ///   - message: libcurl's message of a failed attempt to connect, which contains the host of the connection. It
    ///     decides for a proxy from the environment, which has exceptions.
    func usesProxy(for url: URL, failing message: String) -> Bool {
        switch options.proxy {
        case .none: return false
        case .url: return true
        case .environment:
            let scheme = url.scheme?.lowercased() ?? "http"
            // libcurl ignores `HTTP_PROXY`, which a client of a CGI program could set.
            let names = ["\(scheme)_proxy", "all_proxy", "ALL_PROXY"] + (scheme == "https" ? ["HTTPS_PROXY"] : [])
            let values = names.compactMap { ProcessInfo.processInfo.environment[$0] }
            guard let value = values.first(where: { !$0.isEmpty }) else { return false }
            guard let proxy = URL(string: value.contains("://") ? value : "http://\(value)"),
                let host = proxy.host(), host.lowercased() != url.host()?.lowercased() || proxy.port != url.port
            else { return false }
            return message.contains(" \(host) port \(proxy.port ?? 1080)")
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
