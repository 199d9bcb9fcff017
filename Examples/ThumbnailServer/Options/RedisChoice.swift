import AlcedoRedisCache
import ExampleSupport
import FoundationEssentials

/// Which Redis is shared with other servers, if any, as the command line says.
struct RedisChoice {
    private var address: RedisOptions.Address?
    private var rest = RedisOptions()
    /// One that says more of a Redis, which has to be named then.
    private var detail: String?

    /// Whether it is one of the options about Redis.
    mutating func take(_ option: String, _ arguments: inout Arguments) throws -> Bool {
        switch option {
        case "--redis":
            address = try Self.address(option, arguments.value(of: option))
            return true
        case "--redis-password-file": rest.password = try Self.password(arguments.value(of: option))
        case "--redis-user": rest.user = try arguments.value(of: option)
        case "--redis-database": rest.database = try arguments.number(of: option, in: 0...1 << 20)
        case "--redis-prefix": rest.prefix = try arguments.value(of: option)
        default: return false
        }
        detail = option
        return true
    }

    /// Nil: none.
    ///
    /// - Throws: `UsageError`.
    func options() throws -> RedisOptions? {
        guard let address else {
            if let detail { throw UsageError("\(detail) needs --redis") }
            return nil
        }
        guard rest.user == nil || rest.password != nil else {
            throw UsageError("--redis-user needs --redis-password-file")
        }
        var options = rest
        options.address = address
        return options
    }

    private static func address(_ option: String, _ text: String) throws -> RedisOptions.Address {
        guard !text.contains("/") else { return .socket(text) }
        let (host, port) = try NetworkPlace(option, text).parts
        return .network(host: host, port: Int(port))
    }

    /// Line ends after it do not count.
    private static func password(_ path: String) throws -> String {
        guard let data = try? InputFile.read(path, limit: KeyFile.limit) else {
            throw UsageError("the password file '\(path)' cannot be read")
        }
        let bytes = data.reversed().drop { $0 == 10 || $0 == 13 }.reversed()
        guard let password = String(validating: bytes, as: UTF8.self), !password.isEmpty else {
            throw UsageError("the password file '\(path)' has no password, or one that is no UTF-8")
        }
        return password
    }
}
