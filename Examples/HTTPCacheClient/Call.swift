import AlcedoCore
import AlcedoHTTP
import FoundationEssentials

/// One line of standard input: a request, and how it is to be made.
struct Call: Sendable {
    let id: CallID
    let request: HTTPRequest
    let followsRedirects: Bool
    /// From the sending to the last byte of the body.
    let timeLimit: Duration

    /// Longest time limit, in milliseconds: an hour.
    private static let longest = 3_600_000.0

    /// - Throws: ``CallError`` when the line is no call.
    init(line: Data) throws(CallError) {
        let decoder = JSONDecoder()
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
        guard form.op ?? "fetch" == "fetch" else {
            throw CallError(id: id, message: "there is no op '\(form.op ?? "")'")
        }
        guard let url = URL(string: form.url) else {
            throw CallError(id: id, message: "not a URL: \(form.url.debugDescription)")
        }
        var fields = HTTPFields()
        for pair in form.headers ?? [] {
            guard pair.count == 2 else { throw CallError(id: id, message: "headers are pairs of name and value") }
            fields.append(pair[0], pair[1])
        }
        followsRedirects = form.redirect != .manual
        let cache = form.cache ?? .default
        let milliseconds = min(max(form.timeout_ms ?? 10_000, 1), Self.longest)
        timeLimit = .milliseconds(milliseconds)
        request = HTTPRequest(
            method: HTTPMethod(rawValue: form.method ?? "GET"), url: url, fields: fields,
            body: form.body.map { Data($0.utf8) },
            // The time limit decides, unless it is what ends the silence.
            idleTimeout: timeLimit + .seconds(1), cachePolicy: cache.policy, allowsStoring: cache != .noStore)
    }

    private static func sentence(_ error: any Error) -> String {
        (error as? DecodingError)?.sentence ?? "\(error)"
    }

    private struct Name: Decodable {
        var id: CallID
    }

    /// The line as it is written.
    private struct Form: Decodable {
        var op: String?
        var method: String?
        var url: String
        var headers: [[String]]?
        var body: String?
        var cache: CacheMode?
        var redirect: Redirect?
        var timeout_ms: Double?
    }

    private enum Redirect: String, Decodable {
        case follow, manual
    }
}

/// What an answer names its call by: given back as it came.
enum CallID: Codable, Sendable, Hashable {
    case number(Int)
    case text(String)

    init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        if let number = try? value.decode(Int.self) {
            self = .number(number)
        } else {
            self = .text(try value.decode(String.self))
        }
    }

    func encode(to encoder: any Encoder) throws {
        var value = encoder.singleValueContainer()
        switch self {
        case .number(let number): try value.encode(number)
        case .text(let text): try value.encode(text)
        }
    }
}

/// The cache modes of the Fetch standard, as a call names them.
private enum CacheMode: String, Decodable {
    case `default`
    case noCache = "no-cache"
    case reload
    case forceCache = "force-cache"
    case onlyIfCached = "only-if-cached"
    /// The answer is not stored either.
    case noStore = "no-store"

    var policy: HTTPCachePolicy {
        switch self {
        case .default: .useProtocolCachePolicy
        case .noCache: .reloadRevalidatingCacheData
        case .forceCache: .returnCacheDataElseLoad
        case .onlyIfCached: .returnCacheDataDontLoad
        case .reload, .noStore: .reloadIgnoringLocalAndRemoteCacheData
        }
    }
}

/// Why a line is no call.
struct CallError: Error, Sendable {
    /// Where an answer can go; nil when the line has no name for it.
    var id: CallID?
    /// One sentence.
    var message: String
}

extension DecodingError {
    /// The place, and what is wrong there.
    fileprivate var sentence: String {
        let context =
            switch self {
            case .typeMismatch(_, let context), .valueNotFound(_, let context), .keyNotFound(_, let context),
                .dataCorrupted(let context):
                context
            @unknown default: Context(codingPath: [], debugDescription: "\(self)")
            }
        let place = context.codingPath.map { $0.intValue.map(String.init) ?? $0.stringValue }.joined(separator: ".")
        return place.isEmpty ? context.debugDescription : "\(place): \(context.debugDescription)"
    }
}
