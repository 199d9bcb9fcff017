import AlcedoCore
import AlcedoHTTP
import FoundationEssentials
import TestSupport

/// The directives of a request, as numbers.
struct RequestPlan: Sendable {
    var page = 0
    var maxAge: Int?
    var minFresh: Int?
    /// `Int.max` for any staleness.
    var maxStale: Int?
    var staleIfError: Int?
    /// Directives without an argument.
    var names: Set<String> = []
    /// Equivalent lists have one number.
    var language: Int?
    var kind: Int?
    var user: Int?
    var hasCookie = false
    private var languageSpelling = 0

    /// Each row: equivalent values.
    private static let languages = [["en"], ["de", " de "], ["en;q=0.5, de", "de,en;q=0.5", "de, en;q=0.50"]]

    init(pageCount: Int, using random: inout SeededGenerator) {
        func isOneIn(_ chance: Int) -> Bool { Int.random(in: 0..<chance, using: &random) == 0 }
        page = Int.random(in: 0..<pageCount, using: &random)
        if isOneIn(8) { maxAge = Int.random(in: 0...40, using: &random) }
        if isOneIn(10) { minFresh = Int.random(in: 0...30, using: &random) }
        if isOneIn(8) { maxStale = isOneIn(3) ? .max : Int.random(in: 0...40, using: &random) }
        if isOneIn(10) { staleIfError = Int.random(in: 0...40, using: &random) }
        for (name, chance) in [("no-cache", 15), ("no-store", 25), ("only-if-cached", 15)] where isOneIn(chance) {
            names.insert(name)
        }
        if !isOneIn(4) {
            language = Int.random(in: 0..<Self.languages.count, using: &random)
            languageSpelling = Int.random(in: 0..<3, using: &random)
        }
        if isOneIn(2) { kind = Int.random(in: 0..<2, using: &random) }
        if isOneIn(5) { user = Int.random(in: 0..<2, using: &random) }
        hasCookie = isOneIn(8)
    }

    var url: URL { .page("page-\(page)") }

    func request(using random: inout SeededGenerator) -> HTTPRequest {
        var directives = names.sorted()
        if let maxAge { directives.append("max-age=\(maxAge)") }
        if let minFresh { directives.append("min-fresh=\(minFresh)") }
        if let maxStale { directives.append(maxStale == .max ? "max-stale" : "max-stale=\(maxStale)") }
        if let staleIfError { directives.append("stale-if-error=\(staleIfError)") }
        directives.shuffle(using: &random)
        var fields: [HTTPFields.Field] = []
        if !directives.isEmpty { fields.append(.init("Cache-Control", directives.joined(separator: ", "))) }
        if let language {
            let spellings = Self.languages[language]
            fields.append(.init("Accept-Language", spellings[languageSpelling % spellings.count]))
        }
        if let kind { fields.append(.init("X-Kind", "kind-\(kind)")) }
        if let user { fields.append(.init("Authorization", "Basic \(user)")) }
        if hasCookie { fields.append(.init("Cookie", "a=b")) }
        return HTTPRequest(url: url, fields: HTTPFields(fields))
    }

    /// Returns the value of a field that a response may vary by.
    func value(of name: String) -> Int? {
        switch name {
        case "accept-language": language
        case "x-kind": kind
        case "authorization": user
        case "cookie": hasCookie ? 1 : nil
        default: nil
        }
    }
}

extension RequestPlan: CustomStringConvertible {
    var description: String {
        let numbers = [
            ("max-age", maxAge), ("min-fresh", minFresh), ("max-stale", maxStale), ("stale-if-error", staleIfError),
            ("language", language), ("kind", kind), ("user", user),
        ]
        let parts = names.sorted() + numbers.compactMap { name, number in number.map { "\(name)=\($0)" } }
        return "page \(page): " + (parts + (hasCookie ? ["cookie"] : [])).joined(separator: ", ")
    }
}
