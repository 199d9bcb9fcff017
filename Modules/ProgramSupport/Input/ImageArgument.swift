package import Alcedo
import AlcedoHTTP
import FoundationEssentials

/// An image as a person names it on the command line: a URL, or the path of a file.
package struct ImageArgument: Sendable {
    /// What the image is called in what is printed: the argument, without a password.
    package let name: String
    /// What to load, or why there is nothing that could be loaded.
    package let request: Result<ImageRequest, any Error>

    package init(name: String, request: ImageRequest) { self.init(name: name, .success(request)) }

    private init(name: String, _ request: Result<ImageRequest, any Error>) {
        self.name = name
        self.request = request
    }

    /// Something that cannot be loaded, and why.
    init(name: String, failure: String) { self.init(name: Console.printable(name), .failure(UsageError(failure))) }

    /// A URL, or the path of a file.
    package init(_ text: String) {
        guard Self.isURL(text) else {
            self.init(name: Console.printable(text), request: ImageRequest(source: .file(text)))
            return
        }
        let isData = text.prefix(5).lowercased() == "data:"
        guard let url = URL(string: text) else {
            self.init(name: Console.printable(text), .failure(UsageError("not a URL")))
            return
        }
        let name = Console.printable(isData ? "\(text.prefix(40))..." : Self.withoutPassword(text, url))
        self.init(name: name, request: ImageRequest(url: url))
    }

    /// Whether the text is a URL. A path may hold a colon too; a scheme is letters, digits and three signs, and is followed
    /// by `//`, except that of data URLs.
    package static func isURL(_ text: String) -> Bool {
        let scheme = text.prefix { $0 != ":" }
        let isScheme = scheme.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "+-.".contains($0)) }
        let rest = text.dropFirst(scheme.count)
        return isScheme && (rest.hasPrefix("://") || (rest.hasPrefix(":") && scheme.lowercased() == "data"))
    }

    /// The same with another request, where there is one.
    package func changing(_ change: (ImageRequest) -> ImageRequest) -> ImageArgument {
        ImageArgument(name: name, request.map(change))
    }

    /// The path of a file as it was given, or ``name``.
    package var path: String {
        guard case .success(let request) = request, case .file(let path) = request.source else { return name }
        return path
    }

    /// What a file that is made of the image may be called, without an ending; never empty.
    package var fileStem: String { name == "-" ? "stdin" : safeName.stem }

    /// A text that may quote the URL, such as an error's, without the password.
    package func withoutPassword(_ text: String) -> String {
        guard case .success(let request) = request, let url = request.url else { return text }
        return Self.withoutPassword(text, url)
    }

    private static func withoutPassword(_ text: String, _ url: URL) -> String {
        guard let password = url.password(percentEncoded: true), !password.isEmpty else { return text }
        return text.replacing(":\(password)@", with: ":...@")
    }
}

extension ImageArgument {
    /// What a file that is made of the image may be called.
    var safeName: SafeName {
        guard case .success(let request) = request, case .file(let path) = request.source else {
            return SafeName(url: name)
        }
        return SafeName(path: path)
    }
}
