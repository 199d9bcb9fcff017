package import AlcedoHTTP
import FoundationEssentials

/// The HTTP request that an image request sends: its source after all modifiers, with the default fields of the
/// downloader. Before a response is known, only image requests with equal values share work.
///
/// With ``ImageRequest/resource``, the URL does not count. A class, so that copies of a request share it and compare
/// in O(1).
package final class SentRequest: Sendable, Hashable {
    /// The request; without its URL if the image request names its resource.
    private let compared: HTTPRequest
    private let digest: Int
    package let request: HTTPRequest

    /// Creates the value of an image request.
    ///
    /// - Parameters:
    ///   - request: The request with all default fields.
    ///   - comparesURL: Whether requests with other URLs are different.
    package init(_ request: HTTPRequest, comparesURL: Bool) {
        self.request = request
        var compared = request
        if !comparesURL { compared.url = Self.noURL }
        self.compared = compared
        digest = compared.hashValue
    }

    package static func == (a: SentRequest, b: SentRequest) -> Bool {
        a === b || a.digest == b.digest && a.compared == b.compared
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(digest) }

    private static let noURL = URL(filePath: "/")
}

extension ImageRequest {
    /// The modifiers of a request, which run again before a further attempt.
    package struct Renewal: Sendable {
        /// A token that represents ``ImageRequest/modifyRequest``; nil if only the downloader changes requests.
        package let modifier: RequestToken?
        /// Runs the modifiers on the original request.
        package let source: @Sendable () async throws -> ImageSource

        package init(modifier: RequestToken?, source: @escaping @Sendable () async throws -> ImageSource) {
            self.modifier = modifier
            self.source = source
        }
    }

    /// The variant of a resource that a request selects by the fields by which the responses vary.
    package struct Variance: Sendable, Hashable {
        package let fields: VaryingFields
        let part: String

        init(_ fields: VaryingFields, of request: HTTPRequest) {
            self.fields = fields
            part = "vary=\(fields.digest(of: request))"
        }
    }

    /// Returns the request with the keys of a resource whose responses vary by some fields. Returns other requests than
    /// those to servers unchanged. Requires ``sent``.
    package func varying(by fields: VaryingFields) -> ImageRequest {
        guard let sent, (variance?.fields ?? .none) != fields else { return self }
        var request = self
        request.variance = fields == .none ? nil : Variance(fields, of: sent.request)
        return request
    }
}
