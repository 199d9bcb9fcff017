import AlcedoCore
import AlcedoHTTP
import FoundationEssentials
import TestSupport
import Testing

@testable import AlcedoURLResponseCache

@Suite(.timeLimit(.minutes(10)))
struct EntryCoderPropertyTests {
    /// Returns an entry of a random shape.
    static func entry(using random: inout SeededGenerator) -> ResponseEntry {
        func text(_ random: inout SeededGenerator) -> String {
            let letters = ["a", "\u{E9}", "\u{0}", "\u{1F426}", "\"", " ", "Z"]
            return (0..<Int.random(in: 0...6, using: &random)).map { _ in letters.randomElement(using: &random) ?? "" }
                .joined()
        }
        func fields(_ random: inout SeededGenerator) -> HTTPFields {
            HTTPFields((0..<Int.random(in: 0...4, using: &random)).map { _ in .init(text(&random), text(&random)) })
        }
        func seconds(_ random: inout SeededGenerator) -> Double {
            [0, -0.0, 1, 0.1, 1e300, -1e300, .leastNonzeroMagnitude].randomElement(using: &random) ?? 0
        }
        guard Int.random(in: 0..<4, using: &random) > 0 else {
            return .variants(
                ResponseVariants(
                    nameLists: (0..<Int.random(in: 0...3, using: &random)).map { _ in
                        (0..<Int.random(in: 0...3, using: &random)).map { _ in text(&random) }
                    },
                    tagged: (0..<Int.random(in: 0...3, using: &random)).map { _ in
                        .init(variant: text(&random), entityTag: text(&random))
                    }))
        }
        var terms = Freshness(
            conditions: .init(rawValue: UInt8.random(in: 0...255, using: &random)),
            date: Date(timeIntervalSinceReferenceDate: seconds(&random)))
        (terms.initialAge, terms.lifetime) = (seconds(&random), seconds(&random))
        (terms.staleWhileRevalidate, terms.staleIfError) = (seconds(&random), seconds(&random))
        let body = Data(
            (0..<Int.random(in: 0...20, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) })
        let complete = Bool.random(using: &random) ? nil : Int.random(in: 0...100, using: &random)
        return .response(
            StoredResponse(
                head: HTTPResponseHead(
                    url: .page("\(Int.random(in: 0...9, using: &random))?q"),
                    status: Int.random(in: -1...1_000, using: &random), fields: fields(&random)),
                body: body,
                part: Bool.random(using: &random)
                    ? nil : ContentPart(offset: Int.random(in: 0...100, using: &random), completeCount: complete),
                varyingFields: fields(&random), requestTime: Date(timeIntervalSinceReferenceDate: seconds(&random)),
                responseTime: Date(timeIntervalSinceReferenceDate: seconds(&random)), terms: terms,
                storagePolicy: ResponseStoragePolicy.allCases.randomElement(using: &random) ?? .allowed,
                userInfo: Dictionary(
                    (0..<Int.random(in: 0...3, using: &random)).map { _ in (text(&random), text(&random)) },
                    uniquingKeysWith: { a, _ in a })))
    }

    @Test func `an encoded entry decodes to the same entry`() {
        var random = SeededGenerator(seed: 1)
        for _ in 0..<10_000 {
            let entry = Self.entry(using: &random)
            let (metadata, body) = entry.encoded

            #expect(ResponseEntry(metadata: metadata, body: body) == entry)
        }
    }

    @Test func `a slice of a larger buffer decodes as well`() {
        var random = SeededGenerator(seed: 2)
        for _ in 0..<200 {
            let entry = Self.entry(using: &random)
            let (metadata, body) = entry.encoded
            let larger = Data([1, 2, 3]) + metadata + Data([4])

            #expect(ResponseEntry(metadata: larger.dropFirst(3).dropLast(), body: body) == entry)
        }
    }

    @Test func `no prefix of an entry decodes, and no bytes may follow one`() {
        var random = SeededGenerator(seed: 3)
        for _ in 0..<200 {
            let (metadata, body) = Self.entry(using: &random).encoded

            for count in 0..<metadata.count {
                #expect(ResponseEntry(metadata: metadata.prefix(count), body: body) == nil)
            }
            #expect(ResponseEntry(metadata: metadata + Data([0]), body: body) == nil)
        }
    }

    @Test func `an entry of an earlier format is refused`() throws {
        var random = SeededGenerator(seed: 5)
        var (metadata, body) = Self.entry(using: &random).encoded
        let format = try #require(metadata.firstIndex { $0 != 0 })
        metadata[format] -= 1
        #expect(ResponseEntry(metadata: metadata, body: body) == nil)
        metadata[format] += 1
        #expect(ResponseEntry(metadata: metadata, body: body) != nil)
    }

    @Test func `a damaged entry is refused or usable`() {
        var random = SeededGenerator(seed: 4)
        let now = Date(timeIntervalSince1970: 1_700_000_000)
        var (refused, used) = (0, 0)
        for _ in 0..<20_000 {
            var (metadata, body) = Self.entry(using: &random).encoded
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                metadata[Int.random(in: 0..<metadata.count, using: &random)] ^=
                    1 << UInt8.random(in: 0...7, using: &random)
            }
            guard let entry = ResponseEntry(metadata: metadata, body: body) else {
                refused += 1
                continue
            }
            let (again, sameBody) = entry.encoded
            #expect(ResponseEntry(metadata: again, body: sameBody) == entry)
            guard case .response(let stored) = entry else { continue }
            used += 1
            Self.use(stored, at: now)
        }
        #expect(refused > 1_000)
        #expect(used > 1_000)
    }

    /// Passes a stored response through every function that uses it.
    static func use(_ stored: StoredResponse, at now: Date) {
        for fields: HTTPFields in [
            [:], ["Range": "bytes=1-3"], ["Range": "bytes=-2"], ["If-None-Match": "\"a\""],
            ["Cache-Control": "max-stale, max-age=3"], ["Cache-Control": "only-if-cached"],
        ] {
            let request = HTTPRequest(url: stored.head.url, fields: fields)
            let directives = RequestDirectives(request)
            let candidate = StoredCandidate(response: stored, key: ImageKey(request.resourceKey))
            switch CacheDecision(for: request, directives, stored: candidate, now: now) {
            case .serve(let found, _), .serveAndRevalidate(let found):
                let response = found.response(
                    to: request, directives, age: found.age(at: now),
                    CacheStatus(outcome: .hit(timeToLive: 0)),
                    ResponseCaching(source: .fresh, decision: StorageDecision(.allowed)))
                #expect((Int(response.head.fields.values(of: "Age").last ?? "") ?? -1) >= 0)
            default: break
            }
            let context = ExchangeContext(
                request: request, requestTime: now, responseTime: now, rules: ResponseCacheRules())
            let head = HTTPResponseHead(url: stored.head.url, status: 304)
            _ = CacheUpdate(head, stored: stored, context)
            _ = PartialContentRules.isBeginning(stored)
        }
    }
}
