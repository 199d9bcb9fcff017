import AlcedoHTTP
import FoundationEssentials

/// A line of standard input: a request, and how it is sent.
struct Call: Sendable {
    let id: CallID
    let request: HTTPRequest
    let followsRedirects: Bool
    /// From sending the request to the last byte of the body.
    let timeLimit: Duration

    private struct Name: Decodable {
        var id: CallID
    }

    private struct Form: Decodable {
        var op: String?
        var method: String?
        var url: String
        var headers: [[String]]?
        var body: String?
        var cache: String?
        var redirect: String?
        var timeoutMs: Double?
    }

    /// The cache modes of the Fetch standard. With `no-store` the response is not stored either.
    private static let policies: [String: HTTPCachePolicy] = [
        "default": .useProtocolCachePolicy, "no-cache": .reloadRevalidatingCacheData,
        "force-cache": .returnCacheDataElseLoad, "only-if-cached": .returnCacheDataDontLoad,
        "reload": .reloadIgnoringLocalAndRemoteCacheData, "no-store": .reloadIgnoringLocalAndRemoteCacheData,
    ]

    init(line: String) throws(CallError) {
        let line = Data(line.utf8)
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        do {
            id = try decoder.decode(Name.self, from: line).id
        } catch {
            throw CallError(id: nil, message: "a line without a readable id: \(Self.sentence(error))")
        }
        let form: Form
        do {
            form = try decoder.decode(Form.self, from: line)
        } catch {
            throw CallError(id: id, message: Self.sentence(error))
        }
        let (op, cache, redirect) = (form.op ?? "fetch", form.cache ?? "default", form.redirect ?? "follow")
        guard op == "fetch" else { throw CallError(id: id, message: "there is no op '\(op)'") }
        guard let policy = Self.policies[cache] else {
            throw CallError(id: id, message: "there is no cache '\(cache)'")
        }
        guard ["follow", "manual"].contains(redirect) else {
            throw CallError(id: id, message: "there is no redirect '\(redirect)'")
        }
        guard let url = URL(string: form.url) else { throw CallError(id: id, message: "not a URL: '\(form.url)'") }
        guard form.headers?.allSatisfy({ $0.count == 2 }) ?? true else {
            throw CallError(id: id, message: "headers are pairs of name and value")
        }
        followsRedirects = redirect == "follow"
        // At most an hour.
        timeLimit = .milliseconds(min(max(form.timeoutMs ?? 10_000, 1), 3_600_000))
        request = HTTPRequest(
            method: HTTPMethod(rawValue: form.method ?? "GET"), url: url,
            fields: HTTPFields((form.headers ?? []).map { HTTPFields.Field($0[0], $0[1]) }),
            body: form.body.map { Data($0.utf8) },
            // The time limit of the call comes first.
            idleTimeout: timeLimit + .seconds(1), cachePolicy: policy, allowsStoring: cache != "no-store")
    }

    /// The place in the line, and what is wrong there.
    private static func sentence(_ error: any Error) -> String {
        switch error {
        case DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(_, let context),
            DecodingError.keyNotFound(_, let context), DecodingError.dataCorrupted(let context):
            (context.codingPath.map { $0.intValue.map(String.init) ?? $0.stringValue } + [context.debugDescription])
                .joined(separator: ": ")
        default: "\(error)"
        }
    }
}

/// The name of a call, which its answer repeats.
enum CallID: Codable, Sendable {
    case number(Int)
    case text(String)

    init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        self = try (try? value.decode(Int.self)).map { .number($0) } ?? .text(value.decode(String.self))
    }

    func encode(to encoder: any Encoder) throws {
        var value = encoder.singleValueContainer()
        switch self {
        case .number(let number): try value.encode(number)
        case .text(let text): try value.encode(text)
        }
    }
}

/// Why a line is not a call. Without an id there is no answer.
struct CallError: Error {
    var id: CallID?
    var message: String
}

/// A line of standard output: the response to a call, or an error. What is nil is left out.
struct Answer: Encodable, Sendable {
    var id: CallID
    var status: Int?
    var headers: [[String]]?
    var bodyBase64: Data?
    var interim: [Interim]?
    /// Whether the body comes from the store; nil when the cache does not say.
    var fromCache: Bool?
    var error: String?
    var errorKind: String?

    /// A head as a pair of its status and its fields.
    struct Interim: Encodable {
        let head: HTTPResponseHead

        func encode(to encoder: any Encoder) throws {
            var pair = encoder.unkeyedContainer()
            try pair.encode(head.status)
            try pair.encode(head.pairs)
        }
    }

    init(id: CallID, _ error: any Error) {
        self.id = id
        (self.error, errorKind) =
            switch error {
            case let error as CallError: (error.message, "invalidCall")
            case let error as HTTPTransportError:
                (error.description, Self.kind(of: error.code))
            case is CancellationError: ("standard input has ended, and the time for this call", "cancelled")
            default: ("\(error)", nil)
            }
    }

    init(id: CallID, _ response: HTTPResponse, body: Data) {
        (self.id, status, headers, bodyBase64) = (id, response.head.status, response.head.pairs, body)
        interim = response.interim.isEmpty ? nil : response.interim.map(Interim.init)
        fromCache = response.responseSource.map { $0 != .new }
    }

    private static func kind(of code: HTTPTransportError.Code) -> String {
        switch code {
        case .timedOut: "timeout"
        case .badRedirect: "redirect"
        default: code.rawValue
        }
    }
}

extension HTTPResponseHead {
    fileprivate var pairs: [[String]] { fields.map { [$0.name, $0.value] } }
}
