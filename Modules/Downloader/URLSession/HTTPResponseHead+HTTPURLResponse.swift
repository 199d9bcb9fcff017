import AlcedoCore
import Foundation
import FoundationNetworking

extension HTTPResponseHead {
    /// - Parameter url: The URL that was asked for.
    init(_ response: HTTPURLResponse, url: URL) {
        let fields = response.allHeaderFields.compactMap { name, value -> HTTPFields.Field? in
            guard let name = name as? String, let value = value as? String else { return nil }
            return HTTPFields.Field(name, Self.bytewise(value))
        }
        // The session keeps no order; this one is at least the same every time.
        self.init(url: url, status: response.statusCode, fields: HTTPFields(fields.sorted { $0.name < $1.name }))
    }

    /// The session has decoded the bytes as UTF-8; Core wants a code point for each byte.
    private static func bytewise(_ value: String) -> String {
        if value.utf8.allSatisfy({ $0 < 0x80 }) { return value }
        return String(String.UnicodeScalarView(value.utf8.map { UnicodeScalar($0) }))
    }
}
