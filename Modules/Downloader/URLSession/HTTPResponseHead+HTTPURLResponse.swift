import AlcedoCore
import Foundation
import FoundationNetworking

extension HTTPResponseHead {
    /// - Parameter url: The URL that was asked for.
    init(_ response: HTTPURLResponse, url: URL) {
        let fields = response.allHeaderFields.compactMap { name, value -> HTTPFields.Field? in
            guard let name = name as? String, let value = value as? String else { return nil }
            // The session has decoded the bytes as UTF-8; Core wants a code point for each byte.
            return HTTPFields.Field(name, String(latin1: value.utf8))
        }
        // The session keeps no order; this one is at least the same every time.
        self.init(url: url, status: response.statusCode, fields: HTTPFields(fields.sorted { $0.name < $1.name }))
    }
}
