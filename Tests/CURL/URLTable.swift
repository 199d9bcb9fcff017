import Foundation
import TestSupport

/// The table `Fixtures/urls.json` of texts and of the URLs that browsers and this package make of them.
struct URLTable: Decodable {
    struct Row: Decodable, CustomStringConvertible {
        let text: String
        let base: String?
        /// The URL in browsers; nil if they refuse the text.
        let url: String?
        let differs: Difference?

        /// The URL in this package; nil if it refuses the text.
        var expected: String? {
            if let differs { differs.url } else { url }
        }

        var description: String { "\(text.debugDescription) with base \(base ?? "none")" }
    }

    struct Difference: Decodable {
        /// The URL in this package; nil if it refuses the text.
        let url: String?
        /// The key of the reason.
        let reason: String
    }

    let reasons: [String: String]
    let rows: [Row]

    static func load() throws -> URLTable {
        try JSONDecoder().decode(URLTable.self, from: Bundle.module.fixture("urls.json"))
    }

    /// Returns the rows for which the condition holds.
    static func rows(where isIncluded: (Row) -> Bool) throws -> [Row] { try load().rows.filter(isIncluded) }
}
