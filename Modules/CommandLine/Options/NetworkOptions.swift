import Alcedo
import AlcedoCore
import AlcedoHTTP
import AlcedoLibc
import AlcedoProgramSupport
import AlcedoRuntime
import FoundationEssentials

/// The options that control downloads, and the parts of the downloader that they configure.
struct NetworkOptions: Sendable {
    /// The accepted values of the connection limits. The maximum bounds memory, because each load may hold a decoded
    /// image.
    static let connectionRange = 1...256

    static let help = """
          --max-connections N     download at most N images at once (default: 6)
          --max-connections-per-host N
                                  download at most N images at once from one host (default: no separate limit)
          --retry N               retry a failed download up to N times, with increasing delays (default: 0)
          --timeout SECONDS       limit the seconds until the first byte and between received bytes (default: 15), and
                                  those of the decoding and encoding of each image in convert, decode and thumbnail
                                  (default: no limit); an image that takes longer is an error and is not written;
                                  decimals are allowed
          --header 'Name: value'  send this header field with each request; may be repeated. A redirect to another
                                  origin keeps only fields that cannot be credentials, such as Accept
          --ca FILE               trust only the certificate authorities in FILE, in PEM
          --verbose, -v           print one line per exchange with a server: timings, bytes, connection, attempt,
                                  resumption and response cache

        """

    private(set) var isVerbose = false
    private var connections: Int?
    private var connectionsPerHost: Int?
    private var retries = 0
    private(set) var timeout: Duration?
    private var headers: [HeaderOption] = []
    private var authorities: String?

    /// Parses an option and its value. Returns false if the option belongs to another group.
    mutating func take(_ option: String, from arguments: inout Arguments) throws -> Bool {
        switch option {
        case "--verbose", "-v": isVerbose = true
        case "--max-connections": connections = try arguments.number(of: option, in: Self.connectionRange)
        case "--max-connections-per-host":
            connectionsPerHost = try arguments.number(of: option, in: Self.connectionRange)
        case "--retry": retries = try arguments.number(of: option, in: 0...100)
        case "--timeout": timeout = try arguments.seconds(of: option)
        case "--header": headers.append(try HeaderOption(arguments.value(of: option)))
        case "--ca": authorities = try arguments.value(of: option)
        default: return false
        }
        return true
    }

    /// Returns the number of concurrent loads: `count`, or the connection limit if it is higher, because fewer loads
    /// could not use all connections.
    func maxConcurrentLoads(atLeast count: Int) -> Int { max(count, connections ?? 0) }

    /// Returns an HTTP request with the headers and the timeout of the options. Returns any other request unchanged.
    func apply(to request: ImageRequest) -> ImageRequest {
        var request = HeaderOption.add(headers, to: request)
        guard case .http(var http) = request.source, let timeout else { return request }
        (http.idleTimeout, http.firstByteTimeout) = (timeout, timeout)
        request.source = .http(http)
        return request
    }

    /// Creates the downloader that the options describe.
    ///
    /// - Parameters:
    ///   - parts: The storage of unfinished downloads. If nil, only a retry of the same download resumes it.
    ///   - downloads: The maximum number of downloads in the whole run. Each download may use all of its retries.
    ///   - log: The log that records exchanges, or nil.
    /// - Throws: An error if the certificates of `--ca` cannot be read.
    func downloader(parts: (any DataCaching)?, downloads: Int, log: TransferLog?) throws -> Downloader {
        var network = CURLOptions()
        if let connections { network.maxConcurrentTransfers = connections }
        if let authorities { network.authorities = .pem(try CertificateFile.read(authorities)) }
        var configuration = DownloaderConfiguration()
        if let connections { configuration.maxConcurrentDownloads = connections }
        if let connectionsPerHost { configuration.maxConcurrentDownloadsPerHost = connectionsPerHost }
        configuration.retry = RetryPolicy(maximumAttempts: retries + 1)
        configuration.retryBudget = RetryBudget(share: Double(retries), burst: max(20, retries * downloads))
        configuration.redirectHook = { [headers] in HeaderOption.removeCredentials($0, $1, of: headers) }
        configuration.resume?.storage = parts
        return .standard(configuration: configuration, codecs: .programs, network: network) { log?.watching($0) ?? $0 }
    }
}

/// A header field that `--header` adds to every request.
private struct HeaderOption: Sendable {
    /// Fields that belong to a single connection or to a body. A wrong value would break the exchange.
    private static let connectionFields: Set = [
        "connection", "content-length", "expect", "keep-alive", "proxy-connection", "te", "trailer",
        "transfer-encoding", "upgrade",
    ]

    /// Fields that a redirect to another origin keeps. Any other field may hold a secret.
    private static let safelistedFields: Set = [
        "accept", "accept-encoding", "accept-language", "cache-control", "dnt", "pragma", "user-agent",
    ]

    let field: HTTPFields.Field

    /// Parses a header field.
    ///
    /// - Parameter text: The field, as `Name: value`. The value may be empty; the colon is required.
    /// - Throws: ``UsageError`` if the name or the value is invalid, or if the field belongs to the connection.
    init(_ text: String) throws {
        guard let colon = text.firstIndex(of: ":"), text[..<colon].isToken else {
            throw UsageError("--header needs 'Name: value', not '\(text)'")
        }
        let name = String(text[..<colon])
        let value = text[text.index(after: colon)...].trimmingPrefix { $0 == " " || $0 == "\t" }
        guard let bytes = String(value).latin1, bytes.allSatisfy({ $0 == 9 || $0 >= 32 && $0 != 127 }) else {
            throw UsageError(
                "--header cannot send the value of \(name): it contains characters that are not allowed in a field")
        }
        guard !Self.connectionFields.contains(name.lowercased()) else {
            throw UsageError("--header cannot set the connection field \(name)")
        }
        let end = value.reversed().prefix { $0 == " " || $0 == "\t" }.count
        field = HTTPFields.Field(name, String(value.dropLast(end)))
    }

    /// Returns an HTTP request with the fields added, and any other request unchanged. With fields, the request has
    /// another key in every cache than without them, because the response may depend on any field.
    static func add(_ headers: [HeaderOption], to request: ImageRequest) -> ImageRequest {
        guard case .http(var http) = request.source, !headers.isEmpty else { return request }
        for header in headers { http.fields.append(header.field.name, header.field.value) }
        var request = request
        request.source = .http(http)
        let lines = headers.map { "\($0.field.name.lowercased()): \($0.field.value)" }
        request.resource = ResourceKey(
            "\(request.source.resource) \(SHA256.hexDigest(of: lines.joined(separator: "\n")))")
        return request
    }

    /// Returns the next request of a redirect. If the redirect leads to another origin, removes the fields that may be
    /// credentials.
    static func removeCredentials(_ head: HTTPResponseHead, _ next: HTTPRequest, of headers: [HeaderOption])
        -> HTTPRequest
    {
        guard head.url.origin != next.url.origin else { return next }
        var next = next
        for header in headers where !safelistedFields.contains(header.field.name.lowercased()) {
            next.fields[header.field.name] = nil
        }
        return next
    }
}

/// The certificates that `--ca` names, read before any image is loaded.
private enum CertificateFile {
    /// The maximum size of the file in bytes: 16 MiB. The system's own list has about 256 KiB.
    private static let sizeLimit = 16 << 20
    private static let (opening, closing) = ("-----BEGIN CERTIFICATE-----", "-----END CERTIFICATE-----")

    /// Returns the contents of the file.
    ///
    /// - Throws: ``Problem`` if the file cannot be read, is larger than 16 MiB or has no PEM certificate.
    static func read(_ path: String) throws -> Data {
        var status = stat()
        guard stat(path, &status) == 0 else {
            throw Problem("cannot read \(path): \(String(cString: strerror(errno)))")
        }
        guard status.st_mode & S_IFMT == S_IFREG, status.st_size <= sizeLimit else {
            throw Problem("cannot read \(path): not a regular file of at most 16 MiB")
        }
        guard let data = FileManager.default.contents(atPath: path) else {
            throw Problem("cannot read \(path): permission denied")
        }
        guard hasCertificate(String(decoding: data, as: UTF8.self)) else {
            throw Problem("\(path) contains no certificate in PEM")
        }
        return data
    }

    /// Whether the text has a block that encodes a DER sequence, as certificates do (RFC 7468, section 5). The TLS
    /// library validates the certificates.
    private static func hasCertificate(_ text: String) -> Bool {
        text.split(separator: opening).dropFirst(text.hasPrefix(opening) ? 0 : 1).contains { block in
            guard let end = block.firstRange(of: closing) else { return false }
            let body = block[..<end.lowerBound].filter { !$0.isWhitespace }
            return Data(base64Encoded: String(body))?.first == 0x30
        }
    }

    struct Problem: Error, CustomStringConvertible {
        let description: String

        init(_ description: String) { self.description = description }
    }
}
