import AlcedoLibc
import AlcedoProgramSupport
import AlcedoRedisCache
import FoundationEssentials

/// A host and a port, separated by a colon. An IPv6 address is written in brackets.
struct HostAndPort {
    let parts: (host: String, port: UInt16)

    /// Parses the value of an option.
    ///
    /// - Throws: `UsageError` if the text is not HOST:PORT.
    init(_ option: String, _ text: String) throws {
        let colon = text.lastIndex(of: ":")
        let host = colon.map { text[..<$0] } ?? ""
        let plain = host.hasPrefix("[") && host.hasSuffix("]") ? host.dropFirst().dropLast() : host
        guard let colon, !plain.isEmpty, let port = UInt16(text[text.index(after: colon)...]) else {
            throw UsageError("\(option) needs HOST:PORT, not '\(text)'")
        }
        parts = (String(plain), port)
    }

    /// Whether the host is a numeric address, not a name.
    var isNumber: Bool {
        var address = in6_addr()
        return inet_pton(parts.host.contains(":") ? AF_INET6 : AF_INET, parts.host, &address) == 1
    }
}

/// A list of formats, separated by commas.
struct FormatList {
    let formats: [ThumbnailFormat]

    /// Parses the value of an option.
    ///
    /// - Throws: `UsageError` if a name is unknown or missing.
    init(_ option: String, _ text: String) throws {
        formats = try text.split(separator: ",", omittingEmptySubsequences: false).map { name in
            guard let format = ThumbnailFormat(name: String(name)) else {
                throw UsageError("\(option) needs a list of \(ThumbnailFormat.names), such as webp,jpeg, not '\(text)'")
            }
            return format
        }
    }
}

/// The key of signatures, read from a file. Line breaks at the end of the file are not part of the key.
struct KeyFile {
    /// The maximum number of bytes in a file with a secret: 64 KiB.
    static let limit = 64 << 10

    let signature: URLSignature

    /// Reads the key.
    ///
    /// - Throws: `UsageError` if the file cannot be read, is open to other users, or has a key that is too short.
    init(path: String) throws {
        // The path may name a pipe, which `InputFile` reads to its end.
        let data: Data
        do {
            data = try InputFile.read(path, limit: Self.limit, name: "the key file '\(path)'", isSecret: true)
        } catch {
            throw UsageError("\(error)")
        }
        var key = [UInt8](data)
        while let last = key.last, last == 10 || last == 13 { key.removeLast() }
        guard key.count >= URLSignature.minimumKeyLength else {
            throw UsageError(
                "the key in '\(path)' has \(key.count) bytes; at least \(URLSignature.minimumKeyLength) are required")
        }
        signature = URLSignature(key: key)
    }
}

/// The Redis server that the command line specifies for sharing thumbnails with other servers.
struct RedisArguments {
    private var address: RedisOptions.Address?
    private var rest = RedisOptions()
    /// The last option that requires `--redis`.
    private var detail: String?

    /// Takes the value of an option about Redis. Returns false for any other option.
    mutating func take(_ option: String, _ arguments: inout Arguments) throws -> Bool {
        switch option {
        case "--redis":
            address = try Self.address(option, arguments.value(of: option))
            return true
        case "--redis-password-file": rest.password = try Self.password(arguments.value(of: option))
        case "--redis-user": rest.username = try arguments.value(of: option)
        case "--redis-database": rest.database = try arguments.number(of: option, in: 0...1 << 20)
        case "--redis-prefix": rest.prefix = try arguments.value(of: option)
        default: return false
        }
        detail = option
        return true
    }

    /// Returns the Redis options; nil without `--redis`.
    ///
    /// - Throws: `UsageError` if another Redis option is given without `--redis`, or `--redis-user` without
    ///   `--redis-password-file`.
    func options() throws -> RedisOptions? {
        guard let address else {
            if let detail { throw UsageError("\(detail) needs --redis") }
            return nil
        }
        guard rest.username == nil || rest.password != nil else {
            throw UsageError("--redis-user needs --redis-password-file")
        }
        var options = rest
        options.address = address
        return options
    }

    /// Parses an address. Text with a slash is the path of a socket. Any other text must be HOST:PORT.
    private static func address(_ option: String, _ text: String) throws -> RedisOptions.Address {
        guard !text.contains("/") else { return .socket(text) }
        let (host, port) = try HostAndPort(option, text).parts
        return .network(host: host, port: Int(port))
    }

    /// Reads a password from a file. Line breaks at the end of the file are not part of it. Throws `UsageError` if the
    /// file cannot be read, is open to other users, or has a password that is empty or not UTF-8.
    private static func password(_ path: String) throws -> String {
        let data: Data
        do {
            data = try InputFile.read(
                path, limit: KeyFile.limit, name: "the password file '\(path)'", isSecret: true)
        } catch {
            throw UsageError("\(error)")
        }
        let bytes = data.reversed().drop { $0 == 10 || $0 == 13 }.reversed()
        guard let password = String(validating: bytes, as: UTF8.self), !password.isEmpty else {
            throw UsageError("the password in '\(path)' is empty or not UTF-8")
        }
        return password
    }
}
