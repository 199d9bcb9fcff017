public import Alcedo
import FoundationEssentials

/// An image as a person names it on the command line: a URL, or the path of a file.
public struct ImageArgument: Sendable {
    /// What the image is called in what is printed: the argument, without a password.
    public let name: String
    /// What to load, or why there is nothing that could be loaded.
    public let request: Result<ImageRequest, any Error>

    public init(name: String, request: ImageRequest) { self.init(name: name, .success(request)) }

    private init(name: String, _ request: Result<ImageRequest, any Error>) {
        self.name = name
        self.request = request
    }

    /// A path may hold a colon too; a scheme is letters, digits and three signs, and is followed by `//`, except that
    /// of data URLs.
    public init(_ text: String) {
        let scheme = text.prefix { $0 != ":" }
        let isScheme = scheme.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "+-.".contains($0)) }
        let rest = text.dropFirst(scheme.count)
        let isData = scheme.lowercased() == "data"
        guard isScheme, rest.hasPrefix("://") || (rest.hasPrefix(":") && isData) else {
            self.init(name: Console.printable(text), request: ImageRequest(source: .file(text)))
            return
        }
        guard let url = URL(string: text) else {
            self.init(name: Console.printable(text), .failure(UsageError("not a URL")))
            return
        }
        let name = Console.printable(isData ? "\(text.prefix(40))..." : Self.withoutPassword(text, url))
        guard let request = ImageRequest(url: url) else {
            let problem = UsageError("only http, https, data and this machine's file URLs can be loaded")
            self.init(name: name, .failure(problem))
            return
        }
        self.init(name: name, request: request)
    }

    /// The same with another request, where there is one.
    public func changing(_ change: (ImageRequest) -> ImageRequest) -> ImageArgument {
        ImageArgument(name: name, request.map(change))
    }

    /// A text that may quote the URL, such as an error's, without the password.
    public func withoutPassword(_ text: String) -> String {
        guard case .success(let request) = request, case .http(let http) = request.source else { return text }
        return Self.withoutPassword(text, http.url)
    }

    private static func withoutPassword(_ text: String, _ url: URL) -> String {
        guard let password = url.password(percentEncoded: true), !password.isEmpty else { return text }
        return text.replacing(":\(password)@", with: ":...@")
    }
}
