import Alcedo
import AlcedoLibc
import AlcedoProgramSupport
import FoundationEssentials

/// The options of the command line.
struct ServerOptions {
    static let help = """
        usage: thumbnail-server [options]
               thumbnail-server --key FILE --sign '/thumbnail?url=...&w=...'

        Responds to GET /thumbnail?url=...&w=...&h=...&fit=fit|fill|exact&format=auto|webp|jpeg|png&quality=...
        with small pictures, and GET /health and GET /metrics. Ends at SIGTERM, SIGINT and SIGHUP, when what
        runs is done.

          --listen HOST:PORT     a number and a port, 0 for a free one (default: 127.0.0.1:8080)
          --allow ORIGIN         where pictures may come from: https://host[:port], host or *.host; may be repeated
                                 (default: any public host)
          --allow-private        also from addresses that are not of the open internet
          --key FILE             URLs must be signed with this key, of 16 bytes or more
          --sign TARGET          prints the target with its signature, and ends
          --cache DIR            originals and pictures are kept there (default: thumbnail-server in the user's caches)
          --cache-size MIB       most of them on disk (default: 1024)
          --memory MIB           most pictures in memory (default: 64)
          --no-cache             nothing is kept, on disk or in memory
          --redis SOCKET|HOST:PORT
                                 pictures are shared with other servers by Redis
          --redis-password-file FILE
                                 the password of Redis
          --redis-user NAME      the user that it is of (default: Redis's own)
          --redis-database N     the number of its database (default: 0)
          --redis-prefix TEXT    begins all names there (default: alcedo:)
          --max-age SECONDS      longest life of a picture, here and at clients, from when its origin was asked
                                 (default: 3600)
          --max-side N           most pixels of a side (default: 2048)
          --max-bytes MIB        most bytes of an original (default: 32)
          --max-pixels N         most pixels of an original (default: 50000000)
          --max-decoded MIB      most bytes that decoding holds at once (default: 256)
          --max-originals N      most originals that are loaded and made smaller at once (default: 16)
          --max-per-host N       most of these that one host is asked for (default: 6)
          --max-requests N       most different requests at work or waiting, half of them for one host; more are
                                 sent away (default: 512)
          --max-sending MIB      most of different pictures that are being sent; more are sent away (default: 256)
          --max-connections N    most connections; more wait to be accepted (default: 1024)
          --timeout SECONDS      longest time until a response, and silence of an origin (default: 20)
          --send-timeout SECONDS longest time for a client to receive a response (default: 60)
          --client-timeout SECONDS
                                 longest silence of a connection (default: 15)
          --grace SECONDS        how long what runs may take when the server stops (default: 10)
          --jobs N               threads that decode and encode (default: 2)

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
    private var disablesCaching = false
    /// The last option that configures a cache.
    private var cacheOption: String?
    private var redis = RedisArguments()

    /// Parses the command line.
    ///
    /// - Throws: `UsageError`.
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
                guard address.isNumber else { throw UsageError("--listen takes a number, not '\(address.parts.host)'") }
                (listening.host, listening.port) = address.parts
            case "--allow": stack.service.allowed.patterns.append(try Self.origin(arguments.value(of: option)))
            case "--allow-private": stack.allowsPrivateAddresses = true
            case "--cache":
                stack.cacheDirectory = URL(filePath: try arguments.value(of: option), directoryHint: .isDirectory)
            case "--no-cache": disablesCaching = true
            case _ where try redis.take(option, &arguments): continue
            case _ where try takeLimit(option, &arguments): continue
            default: throw UsageError("there is no option '\(option)'")
            }
        }
        try arguments.finish(rejectingWordsFor: "thumbnail-server")
        stack.redis = try redis.options()
        if disablesCaching {
            guard stack.redis == nil else { throw UsageError("--no-cache keeps nothing, and --redis pictures") }
            if let cacheOption { throw UsageError("--no-cache keeps nothing, and \(cacheOption) something") }
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
        case "--max-decoded":
            stack.limits.decoding.maximumByteCount = try arguments.number(of: option, in: 1...1 << 16) << 20
        case "--max-originals": stack.limits.maxConcurrentOriginals = try arguments.number(of: option, in: 1...10_000)
        case "--max-per-host":
            stack.limits.maxConcurrentOriginalsPerHost = try arguments.number(of: option, in: 1...10_000)
        case "--max-requests": stack.service.maximumRequests = try arguments.number(of: option, in: 1...100_000)
        case "--max-connections": listening.maximumConnections = try arguments.number(of: option, in: 1...100_000)
        case "--max-sending": listening.sendingLimit = try arguments.number(of: option, in: 1...1 << 20) << 20
        case "--timeout":
            listening.responseTimeout = try arguments.seconds(of: option)
            stack.limits.idleTimeout = listening.responseTimeout
        case "--send-timeout": listening.sendingTimeout = try arguments.seconds(of: option)
        case "--client-timeout": listening.clientTimeout = .seconds(try arguments.number(of: option, in: 1...3_600))
        case "--grace": grace = try arguments.seconds(of: option)
        case "--jobs": stack.maxConcurrentDecodes = try arguments.number(of: option, in: 1...256)
        default: return false
        }
        return true
    }

    /// Creates the cache directory. Returns the reason for which nothing can be stored in it; nil if none is known yet.
    func makeCacheDirectory() -> String? {
        guard let directory = stack.cacheDirectory else { return nil }
        do {
            try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        } catch {
            return "nothing is kept on disk: cannot make \(directory.path)"
        }
        return access(directory.path, W_OK) == 0 ? nil : "nothing is kept on disk: cannot write to \(directory.path)"
    }

    private static func origin(_ text: String) throws -> OriginPattern {
        guard let pattern = OriginPattern(text) else {
            throw UsageError("--allow takes https://host[:port], host or *.host, not '\(text)'")
        }
        return pattern
    }

    /// The default cache directory; nil without a home directory.
    private static var caches: URL? {
        ImagePipeline.Configuration.cacheDirectory(named: "thumbnail-server")
    }
}

/// A signed target that the server would accept.
private struct SignedTarget {
    let text: String

    /// Signs a target.
    ///
    /// - Throws: `UsageError` for a target that is invalid or never allowed.
    init(_ target: String, _ signature: URLSignature, _ settings: ThumbnailService.Settings) throws {
        let path = "\(ThumbnailQuery.path)?"
        guard target.hasPrefix(path) else { throw UsageError("--sign takes \(path)..., not '\(target)'") }
        do throws(HTTPError) {
            guard try QueryItems(target.dropFirst(path.count))[URLSignature.name] == nil else {
                throw HTTPError(400, "the target has a signature already")
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
