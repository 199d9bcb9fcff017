import AlcedoHTTP
import AlcedoTesting
import FoundationEssentials
import TestSupport

/// A server with other contents for other requests. It knows which content it has sent for which request, and by which
/// fields its responses varied.
///
/// The contents of each page depend on some fields, which `Vary` names. Contents and fields change with time. The
/// contents for all users have one entity tag, so that the server does not correct a cache that confuses them.
final class IdentityOrigin: HTTPTransport {
    /// How a server behaves.
    struct Traits: Sendable {
        /// Whether a response cache lies before the server.
        var hasResponseCache: Bool
        /// Whether `Vary` names the fields that belong to the key of a request anyway.
        var namesKeyFields: Bool
        /// Whether some responses have status 503, and some transfers end early, in every other batch.
        var isFlaky: Bool
    }

    static let paths = ["/a", "/b", "/moved", "/away"]
    /// The fields that `Vary` names for some pages.
    private static let pageFields = ["x-token", "x-token", "x-user", "dpr", "user-agent", "accept"]
    /// The fields on which every content depends. The pipeline keeps requests apart by them in any case.
    private static let keyFields = ["authorization", "cookie", "accept-language"]

    let traits: Traits
    private let state: Watched<State>

    init(_ traits: Traits, seed: UInt64) {
        self.traits = traits
        state = Watched(State(traits: traits, random: SeededGenerator(seed: seed)))
    }

    func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        // Others may join in the meantime. The results must not depend on whether they do.
        await Interleaving.giveWay(times: state.update { $0.pauseCount() })
        let reply = state.update { $0.reply(to: request) }
        return HTTPResponse(head: reply.head, body: HTTPBody(Body(reply)))
    }

    // MARK: What it knows

    /// The number of the batch of requests.
    var batch: Int { state.value.batch }

    /// Begins a batch of requests. A page may change.
    func beginBatch() { state.update { $0.beginBatch() } }

    /// Returns whether a request may receive a content: the server has sent the content for the request, or a response
    /// allows its use for the request (RFC 9111, section 4.1).
    ///
    /// - Parameters:
    ///   - content: The number of the content.
    ///   - form: The final request.
    ///   - ignoringQuery: Whether the caller says that the query does not matter.
    ///   - batch: The first batch whose responses may be used.
    func explains(_ content: UInt16, _ form: Form, ignoringQuery: Bool, since batch: Int) -> Bool {
        state.value.explains(content, form, ignoringQuery: ignoringQuery, since: batch)
    }

    /// Returns the last batch in which the server sent a content, and the values of `User-Agent` in these requests.
    func use(of content: UInt16) -> (lastBatch: Int, agents: Set<String?>) {
        let given = state.value.contents[content] ?? [:]
        return (given.values.max() ?? 0, Set(given.keys.map { $0.form["user-agent"] }))
    }

    /// Returns whether a response was the rest of an interrupted transfer.
    func isRest(_ responseID: String) -> Bool { state.value.rests.contains(responseID) }

    /// A URL without the user name.
    struct Place: Hashable, Sendable {
        var host: String
        var path: String
        var query: String?

        var text: String { "http://\(host)\(path)\(query.map { "?\($0)" } ?? "")" }
    }

    /// What a server looks at in a request.
    struct Form: Hashable, Sendable, CustomStringConvertible {
        private var method: HTTPMethod
        fileprivate private(set) var place: Place
        private var body: Data?
        /// The user name in the URL, which a transport sends as `Authorization`.
        private var user: String?
        /// The fields by name in lower case.
        private var fields: [String: String]

        init(_ request: HTTPRequest) {
            method = request.method
            place = Place(host: request.url.host() ?? "", path: request.url.path, query: request.url.query())
            body = request.body
            user = request.url.user
            let names = Set(pageFields + keyFields)
            let known = request.fields.map { ($0.name.lowercased(), $0.value) }.filter { names.contains($0.0) }
            fields = Dictionary(known) { "\($0), \($1)" }
        }

        /// The value of a field whose name is in lower case.
        subscript(name: String) -> String? { name == "authorization" ? fields[name] ?? user : fields[name] }

        var description: String {
            let fields = fields.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }.joined(separator: ", ")
            return "\(method.rawValue) \(place.text) (\(fields)\(user.map { ", user \($0)" } ?? ""))"
        }

        /// What the content depends on, except for fields.
        fileprivate var parts: [String?] {
            [place.text, method.rawValue, body.map { String(decoding: $0, as: UTF8.self) }]
        }

        /// Returns whether both are the same, except for fields.
        fileprivate func isSame(as other: Form, ignoringQuery: Bool) -> Bool {
            method == other.method && body == other.body && place.host == other.place.host
                && place.path == other.place.path && (ignoringQuery || place.query == other.place.query)
        }

        /// Returns the request after a redirect with status 302.
        fileprivate func redirected(to target: Place) -> Form {
            var next = self
            if target.host != place.host { (next.fields["authorization"], next.fields["cookie"]) = (nil, nil) }
            (next.place, next.user) = (target, nil)
            if method == .post { (next.method, next.body) = (.get, nil) }
            return next
        }
    }

    /// A response, as far as it tells for which other requests it may be used.
    private struct Record: Hashable {
        let form: Form
        /// The names by which it varies. `*` allows no other request.
        let names: [String]

        var isForOneRequest: Bool { names.contains("*") }

        func allows(_ other: Form, ignoringQuery: Bool) -> Bool {
            let names = isForOneRequest ? pageFields + keyFields : names
            return form.isSame(as: other, ignoringQuery: ignoringQuery) && names.allSatisfy { form[$0] == other[$0] }
        }
    }

    /// What the server has at a path.
    private struct Page {
        var version = 0
        /// The fields on which the content depends.
        var fields: [String] = []
        /// The names in `Vary`: the fields and others, or `*`.
        var names: [String] = []
    }

    // MARK: What it does

    fileprivate struct Reply: Sendable {
        var head: HTTPResponseHead
        var pieces: [Data] = []
        /// Whether the transfer fails after the pieces.
        var isCut = false
        var pauseCount = 0
    }

    private struct State {
        let traits: Traits
        var random: SeededGenerator
        private(set) var batch = 0
        private var pages: [String: Page] = [:]
        private var numbers: [String: UInt16] = [:]
        private var responseCount = 0
        /// The responses with each content, and the last batch of each.
        private(set) var contents: [UInt16: [Record: Int]] = [:]
        /// The redirects, and the last batch of each.
        private var redirects: [Redirect: Int] = [:]
        private(set) var rests: Set<String> = []
        private var isUnreliable = false

        private struct Redirect: Hashable {
            let record: Record
            let target: Place
        }

        init(traits: Traits, random: SeededGenerator) { (self.traits, self.random) = (traits, random) }

        private mutating func chance(_ count: Int) -> Bool { Int.random(in: 0..<count, using: &random) == 0 }

        private mutating func pick<Value>(_ values: [Value]) -> Value {
            values[Int.random(in: 0..<values.count, using: &random)]
        }

        mutating func pauseCount() -> Int { Int.random(in: 0..<12, using: &random) }

        mutating func beginBatch() {
            batch += 1
            isUnreliable = traits.isFlaky && chance(2)
            guard batch == 1 || chance(3) else { return }
            for path in batch == 1 ? paths : [pick(paths)] {
                var page = pages[path] ?? Page()
                if chance(3), page.version > 0 {
                    // The content stays, and `Vary` has one more name.
                    page.names.append(pick(pageFields))
                } else {
                    page.version += 1
                    page.fields = (0..<pick([0, 1, 1, 2])).map { _ in pick(pageFields) }
                    page.names = chance(8) ? ["*"] : page.fields
                }
                pages[path] = page
            }
        }

        func explains(_ content: UInt16, _ form: Form, ignoringQuery: Bool, since first: Int) -> Bool {
            func allows(_ record: Record, _ last: Int) -> Bool {
                last >= (record.isForOneRequest ? batch : first) && record.allows(form, ignoringQuery: ignoringQuery)
            }
            return contents[content]?.contains { allows($0.key, $0.value) } ?? false
                || redirects.contains {
                    allows($0.key.record, $0.value)
                        && explains(content, form.redirected(to: $0.key.target), ignoringQuery: false, since: first)
                }
        }

        private mutating func number(of parts: [String?]) -> UInt16 {
            let key = parts.map { $0 ?? "none" }.joined(separator: "\n")
            let number = numbers[key] ?? UInt16(numbers.count + 1)
            numbers[key] = number
            return number
        }

        mutating func reply(to request: HTTPRequest) -> Reply {
            responseCount += 1
            let id = "\(responseCount)"
            if isUnreliable, chance(3) {
                return Reply(head: HTTPResponseHead(url: request.url, status: 503, fields: ["Content-Length": "0"]))
            }
            let (form, page) = (Form(request), pages[request.url.path] ?? Page())
            let names = page.names + (traits.namesKeyFields && !page.names.contains("*") ? keyFields : [])
            let unshared: [String?] = page.names.contains("*") ? [id] : []
            let version = form.parts + ["\(page.version)"] + unshared
            let content = number(of: version + (page.fields + keyFields).map { form[$0] })
            // Only what `Vary` does not name, or what states a preference, may have an entity tag of its own.
            let tagFields = traits.namesKeyFields ? ["accept-language"] : keyFields
            let tag = number(
                of: ["tag"] + version + (tagFields + page.fields.filter { $0 == "accept" }).map { form[$0] })
            var head = HTTPResponseHead(
                url: request.url, status: 200,
                fields: [
                    "ETag": "\"\(tag)\"", "X-Response": id,
                    "Cache-Control": pick(["max-age=3600", "max-age=3600", "max-age=60", "no-cache", "no-store"]),
                ])
            for name in names { head.fields.append("Vary", chance(2) ? name : name.uppercased()) }
            let record = Record(form: form, names: names + unnamedFields(form))
            if let host = ["/moved": "h", "/away": "other"][form.place.path] {
                let target = Place(host: host, path: host == "h" ? "/a" : "/b", query: "of=\(content)")
                redirects[Redirect(record: record, target: target)] = batch
                head.status = 302
                head.fields["Location"] = target.text
                return Reply(head: head)
            }
            contents[content, default: [:]][record] = batch
            return fill(head, with: IdentityPicture(content: content).file, for: request)
        }

        /// Returns the fields that keep requests apart although `Vary` does not name them: with a response cache the
        /// credentials that a request has, and without one those in the key.
        private func unnamedFields(_ form: Form) -> [String] {
            guard traits.hasResponseCache else { return keyFields }
            return ["authorization", "cookie"].filter { form[$0] != nil }
        }

        /// Returns the reply with the file, the requested part of it, or the confirmation that it has not changed.
        private mutating func fill(_ head: HTTPResponseHead, with file: Data, for request: HTTPRequest) -> Reply {
            var reply = Reply(head: head, pauseCount: pauseCount())
            var data = file
            let tag = head.fields["ETag"]
            if let range = request.fields["Range"]?.dropFirst("bytes=".count).split(separator: "-"),
                let first = range.first.flatMap({ Int($0) }), request.fields["If-Range"].map({ $0 == tag }) != false
            {
                let last = range.count > 1 ? Int(range[1]) ?? 0 : file.count - 1
                data = Data(file[first...last])
                reply.head.status = 206
                reply.head.fields["Content-Range"] = "bytes \(first)-\(last)/\(file.count)"
                if first > 0 { rests.insert(head.fields["X-Response"] ?? "") }
            } else if let tag, request.fields["If-None-Match"]?.contains(tag) == true {
                reply.head.status = 304
                return reply
            }
            reply.head.fields["Content-Length"] = "\(data.count)"
            reply.isCut = isUnreliable && data.count > 1 && chance(3)
            if reply.isCut { data = data.prefix(Int.random(in: 1..<data.count, using: &random)) }
            reply.pieces = [Data(data.prefix(20)), Data(data.dropFirst(20))].filter { !$0.isEmpty }
            return reply
        }
    }

    /// Sends pieces with pauses.
    private final class Body: HTTPBodySource {
        private let reply: Watched<Reply>

        init(_ reply: Reply) { self.reply = Watched(reply) }

        func next() async throws -> Data? {
            await Interleaving.giveWay(times: reply.value.pauseCount)
            let piece = reply.update { reply -> Data? in reply.pieces.isEmpty ? nil : reply.pieces.removeFirst() }
            if piece == nil, reply.value.isCut { throw HTTPTransportError(.connectionLost, "the transfer ended early") }
            return piece
        }

        func cancel() {}
    }
}
