import Alcedo
import AlcedoLibc
import AlcedoProgramSupport
import FoundationEssentials

/// The options of the command line.
struct ServerOptions {
    static let help = """
        usage: thumbnail-server [options]
               thumbnail-server --key FILE --sign '/thumbnail?url=...&w=...'

        Serves thumbnails of images on other servers at
        /thumbnail?url=...&w=...&h=...&fit=fit|fill|exact|contain&position=...&format=...&quality=...
        and its state at /health and /metrics. The format is auto, \(ThumbnailFormat.names).
        SIGTERM, SIGINT or SIGHUP stops the server after the requests in progress.

        Formats:
          --formats NAME,...          formats of format=auto, in order of preference; image/* and */* in the Accept
                                      field count for jpeg and png only; if the field accepts none of the formats,
                                      the format is png for an image with alpha and jpeg for others, unless the field
                                      excludes one of these or accepts only one
                                      (default: \(ThumbnailFormat.negotiated.map(\.rawValue).joined(separator: ",")))

        Access:
          --listen HOST:PORT          listen on a numeric address and a port, or on a free port for 0
                                      (default: 127.0.0.1:8080)
          --allow ORIGIN              allow originals from host or *.host only, with an optional scheme and port, as in
                                      https://host:8443; may be repeated (default: any public host)
          --allow-private             also allow addresses outside the public internet
          --key FILE                  require URLs that are signed with the key in FILE, of at least 16 bytes
          --sign TARGET               print TARGET with its signature, and exit

        Isolation:
          --sandbox                   decode originals in confined processes, or exit if this is impossible (default:
                                      decode in confined processes if this is possible)
          --no-sandbox                decode originals in the process of the server, except HEIF, with a notice

        Damage:
          --partial                   also serve thumbnails of originals with missing pixels, without storing them
          --strict                    reject damaged originals unless every pixel is right (default: accept originals
                                      with wrong pixels; damage is logged)

        Caching:
          --cache DIR                 cache originals and thumbnails in DIR (default: thumbnail-server in the user's
                                      cache directory)
          --cache-size MIB            maximum size of the disk cache in MiB (default: 1024)
          --memory MIB                maximum size of thumbnails in memory in MiB (default: 64)
          --no-cache                  store nothing on disk or in memory
          --max-age SECONDS           maximum age of a thumbnail in seconds, here and at clients, counted from when its
                                      original was fetched or validated (default: 3600)
          --redis SOCKET|HOST:PORT    share thumbnails with other servers in Redis
          --redis-password-file FILE  read the Redis password from FILE
          --redis-user NAME           authenticate as the Redis user NAME (default: the default user of Redis)
          --redis-database N          use the Redis database N (default: 0)
          --redis-prefix TEXT         begin all Redis keys with TEXT (default: alcedo:)

        Limits:
          --max-side N                maximum side of a thumbnail in pixels (default: 2048)
          --max-bytes MIB             maximum size of an original in MiB (default: 32)
          --max-pixels N              maximum number of pixels of an original (default: 50000000)
          --max-frames N              maximum number of frames of an original
                                      (default: \(DecodingLimits().maximumFrameCount))
          --max-decoded MIB           maximum memory of all decodes and encodes at once, and of one alone, in MiB
                                      (default: 256)
          --max-originals N           maximum number of originals fetched at once (default: 128)
          --max-per-host N            maximum number of originals fetched at once from one host name, and from one
                                      address, however many names it has (default: 6)
          --max-requests N            maximum number of distinct requests in progress or waiting, at most half of them
                                      for one machine, and at most half for new host names; requests beyond it receive
                                      503 (default: 512)
          --max-sending MIB           maximum size of distinct thumbnails being sent in MiB; requests beyond it receive
                                      503 (default: 256)
          --max-connections N         maximum number of connections; a new one replaces one that sends no complete
                                      request, or waits to be accepted (default: 1024)
          --max-per-client N          maximum number of connections from one address, or 0 for no limit, as behind a
                                      proxy (default: 100, and no limit if --listen has a loopback address)
          --jobs N                    maximum number of originals of one machine that are decoded at once, on two
                                      threads fewer than the server has (default: 2)

        Timeouts:
          --timeout SECONDS           maximum seconds until a response, and without data from an origin (default: 20)
          --send-timeout SECONDS      maximum seconds for a client to receive a response (default: 60)
          --client-timeout SECONDS    maximum seconds for which a connection may be idle (default: 15)
          --head-timeout SECONDS      maximum seconds for a client to send the head of a request (default: 10)
          --grace SECONDS             maximum seconds for requests in progress when the server stops (default: 10)

        """

    enum Action {
        case help
        /// Prints the target with its signature.
        case sign(String)
        case serve
    }

    private(set) var action = Action.serve
    private(set) var stack = ServerStack.Settings()
    private(set) var listening = HTTPServer.Settings(port: 8080)
    private(set) var grace = Duration.seconds(10)
    private(set) var sandbox = ServerCodecs.SandboxMode.automatic
    private var disablesCaching = false
    /// The value of `--max-per-client`.
    private var clientLimit: Int?
    /// The last option that configures a cache.
    private var cacheOption: String?
    private var redis = RedisArguments()
    private var damage = ToleranceOptions()

    /// Parses the command line.
    ///
    /// - Parameters:
    ///   - words: The arguments, without the name of the program.
    ///   - caches: The default cache directory; nil for none.
    /// - Throws: `UsageError` if an argument is unknown or invalid, or if options contradict each other.
    init(_ words: some Sequence<String>, caches: URL? = Self.caches) throws {
        stack.cacheDirectory = caches
        var arguments = Arguments(words)
        var target: String?
        while let option = arguments.nextOption() {
            if ["--cache", "--cache-size", "--memory"].contains(option) { cacheOption = option }
            switch option {
            case "--help", "-h": action = .help
            case "--sign": target = try arguments.value(of: option)
            case "--key": stack.service.signature = try KeyFile(path: arguments.value(of: option)).signature
            case "--listen":
                let address = try HostAndPort(option, arguments.value(of: option))
                guard address.isNumber else {
                    throw UsageError("--listen needs a numeric address, not '\(address.parts.host)'")
                }
                (listening.host, listening.port) = address.parts
            case "--allow": stack.service.allowed.patterns.append(try Self.origin(arguments.value(of: option)))
            case "--allow-private": stack.allowsPrivateAddresses = true
            case "--cache":
                stack.cacheDirectory = URL(filePath: try arguments.value(of: option), directoryHint: .isDirectory)
            case "--no-cache": disablesCaching = true
            case "--formats":
                stack.service.negotiatedFormats = try FormatList(option, arguments.value(of: option)).formats
            case "--sandbox": sandbox = try sandbox.changed(to: .required)
            case "--no-sandbox": sandbox = try sandbox.changed(to: .off)
            case _ where try redis.take(option, &arguments): continue
            case _ where try takeLimit(option, &arguments): continue
            case _ where try damage.take(option): stack.limits.tolerance = damage.tolerance
            default: throw UsageError("unknown option '\(option)'")
            }
        }
        try arguments.finish(rejectingWordsFor: "thumbnail-server")
        stack.redis = try redis.options()
        // A server on a loopback address has a proxy in front, if it has other clients at all.
        let isBehindProxy = listening.host.hasPrefix("127.") || listening.host == "::1"
        let clientLimit = clientLimit ?? (isBehindProxy ? 0 : 100)
        listening.maxConcurrentConnectionsPerClient = clientLimit > 0 ? clientLimit : .max
        if disablesCaching {
            guard stack.redis == nil else { throw UsageError("--no-cache cannot be combined with --redis") }
            if let cacheOption { throw UsageError("--no-cache cannot be combined with \(cacheOption)") }
            (stack.cacheDirectory, stack.memoryLimit) = (nil, 0)
        }
        if let target {
            guard let signature = stack.service.signature else { throw UsageError("--sign needs --key") }
            action = .sign(try SignedTarget(target, signature, stack.service).text)
        }
    }

    /// Takes the value of an option that sets a limit. Returns false for any other option.
    private mutating func takeLimit(_ option: String, _ arguments: inout Arguments) throws -> Bool {
        switch option {
        case "--cache-size": stack.diskLimit = try arguments.number(of: option, in: 1...1 << 30) << 20
        case "--memory": stack.memoryLimit = try arguments.number(of: option, in: 0...1 << 20) << 20
        case "--max-age": stack.limits.maximumAge = .seconds(try arguments.number(of: option, in: 0...31_536_000))
        case "--max-side": stack.service.maximumSide = try arguments.number(of: option, in: 1...16_383)
        case "--max-bytes": stack.originalLimit = try arguments.number(of: option, in: 1...1 << 12) << 20
        case "--max-pixels":
            stack.limits.decoding.maximumPixelCount = try arguments.number(of: option, in: 1...65_535 * 65_535)
        case "--max-frames":
            stack.limits.decoding.maximumFrameCount = try arguments.number(of: option, in: 1...10_000_000)
        case "--max-decoded":
            stack.limits.decoding.maximumByteCount = try arguments.number(of: option, in: 1...1 << 16) << 20
        case "--max-originals": stack.limits.maxConcurrentOriginals = try arguments.number(of: option, in: 1...10_000)
        case "--max-per-host":
            stack.limits.maxConcurrentOriginalsPerHost = try arguments.number(of: option, in: 1...10_000)
        case "--max-requests": stack.service.maxConcurrentRequests = try arguments.number(of: option, in: 1...100_000)
        case "--max-connections": listening.maxConcurrentConnections = try arguments.number(of: option, in: 1...100_000)
        case "--max-per-client": clientLimit = try arguments.number(of: option, in: 0...100_000)
        case "--max-sending":
            listening.maximumSendingByteCount = try arguments.number(of: option, in: 1...1 << 20) << 20
        case "--timeout":
            listening.responseTimeout = try arguments.seconds(of: option)
            stack.limits.idleTimeout = listening.responseTimeout
        case "--send-timeout": listening.sendingTimeout = try arguments.seconds(of: option)
        case "--client-timeout": listening.clientTimeout = .seconds(try arguments.number(of: option, in: 1...3_600))
        case "--head-timeout": listening.headTimeout = try arguments.seconds(of: option)
        case "--grace": grace = try arguments.seconds(of: option)
        case "--jobs": stack.maxConcurrentDecodes = try arguments.number(of: option, in: 1...256)
        default: return false
        }
        return true
    }

    /// Creates the cache directory, if the options specify one. If the directory or one of its caches cannot be created
    /// or written, nothing is read from it either, and a message is returned; otherwise nil.
    mutating func makeCacheDirectory() -> String? {
        guard let directory = stack.cacheDirectory else { return nil }
        do {
            try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        } catch {
            stack.cacheDirectory = nil
            return "caching on disk is disabled: cannot create \(directory.path): \(error.localizedReason)"
        }
        for path in ([directory] + stack.cacheDirectories).map(\.path) where access(path, W_OK | X_OK) != 0 {
            let number = errno
            // A cache is created when it is used.
            guard number != ENOENT else { continue }
            stack.cacheDirectory = nil
            let reason = String(cString: strerror(number))
            return "caching on disk is disabled, and \(directory.path) is not used: cannot write to \(path): \(reason)"
        }
        return nil
    }

    private static func origin(_ text: String) throws -> OriginPattern {
        guard let pattern = OriginPattern(text) else {
            throw UsageError(
                "--allow needs a host, such as example.com, *.example.com or https://example.com:8443, not '\(text)'")
        }
        return pattern
    }

    /// The default cache directory; nil if neither `XDG_CACHE_HOME` nor `HOME` is an absolute path.
    private static var caches: URL? {
        ImagePipeline.Configuration.cacheDirectory(named: "thumbnail-server")
    }
}

extension ServerCodecs.SandboxMode {
    /// Returns the mode of an option. Throws `UsageError` if another option has selected another mode.
    fileprivate func changed(to mode: Self) throws -> Self {
        guard self == .automatic || self == mode else {
            throw UsageError("--sandbox cannot be combined with --no-sandbox")
        }
        return mode
    }
}

/// A signed target that the server would accept.
private struct SignedTarget {
    let text: String

    /// Signs a target.
    ///
    /// - Throws: `UsageError` for a target that is invalid, already signed, expired, or from an origin that is not
    ///   allowed.
    init(_ target: String, _ signature: URLSignature, _ settings: ThumbnailService.Settings) throws {
        let path = "\(ThumbnailQuery.path)?"
        guard target.hasPrefix(path) else {
            throw UsageError("--sign needs a target that begins with \(path), not '\(target)'")
        }
        do throws(HTTPError) {
            guard try QueryItems(target.dropFirst(path.count))[URLSignature.name] == nil else {
                throw HTTPError(400, "the target already has a signature")
            }
            text = try signature.signed(target)
            let items = try QueryItems(text.dropFirst(path.count))
            try signature.check(path: ThumbnailQuery.path, items, now: Date())
            let query = try ThumbnailQuery(items, accept: nil, maximumSide: settings.maximumSide)
            try settings.allowed.check(query.source)
        } catch {
            throw UsageError("--sign: \(error.message)")
        }
    }
}
