public import Alcedo
import FoundationEssentials

/// An image as a person names it on the command line: a URL, or the path of a file.
public struct ImageArgument: Sendable {
    public var name: String
    public var request: ImageRequest

    public init(name: String, request: ImageRequest) {
        self.name = name
        self.request = request
    }

    /// - Throws: ``UsageError`` for a URL of a scheme that is not supported.
    public init(_ text: String) throws {
        name = text
        // A path may hold a colon too; a scheme is letters, digits and three signs, and is followed by `//`, except
        // that of data URLs.
        let scheme = text.prefix { $0 != ":" }
        let isScheme = scheme.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "+-.".contains($0)) }
        let rest = text.dropFirst(scheme.count)
        guard isScheme, rest.hasPrefix("://") || (rest.hasPrefix(":") && scheme.lowercased() == "data") else {
            request = ImageRequest(source: .file(text))
            return
        }
        guard let url = URL(string: text) else { throw UsageError("not a URL: \(text)") }
        guard let request = ImageRequest(url: url) else {
            throw UsageError("\(text): only http, https, file and data URLs can be loaded")
        }
        self.request = request
        if scheme.lowercased() == "data" { name = "\(text.prefix(40))..." }
    }
}
