import Alcedo
import AlcedoHTTP
import AlcedoProgramSupport
import FoundationEssentials

/// An image that an argument names: a URL or the path of a file.
struct ImageArgument: Sendable {
    /// The name for output: the argument with three dots instead of a password, and question marks instead of control
    /// characters. The name of a data URL is its first 40 characters and three dots.
    let name: String
    /// The request of the image, or the reason why it cannot be loaded.
    let request: Result<ImageRequest, any Error>

    init(name: String, request: ImageRequest) { self.init(name: name, .success(request)) }

    private init(name: String, _ request: Result<ImageRequest, any Error>) {
        self.name = name
        self.request = request
    }

    /// Creates an argument that cannot be loaded, with the reason.
    init(name: String, failure: String) { self.init(name: Console.printable(name), .failure(UsageError(failure))) }

    /// Parses a URL or the path of a file. If the URL is invalid, ``request`` is a failure with a ``UsageError``.
    init(_ text: String) {
        guard Self.isURL(text) else {
            self.init(name: Console.printable(text), request: ImageRequest(source: .file(text)))
            return
        }
        let url = URL(webString: text) ?? URL(string: text)
        let isData = text.prefix(5).lowercased() == "data:"
        let hidden = url == nil ? Self.withoutUser(text) : Self.withoutTypedPassword(text)
        let name = Console.printable(isData ? "\(text.prefix(40))..." : hidden)
        guard let url else {
            self.init(name: name, .failure(UsageError("not a valid URL")))
            return
        }
        self.init(name: name, request: ImageRequest(url: url))
    }

    /// Returns whether the text is a URL: a scheme followed by `://`, or a data URL. A path may also contain a colon,
    /// so the scheme must consist of ASCII letters, digits, `+`, `-` and `.`.
    static func isURL(_ text: String) -> Bool {
        let scheme = text.prefix { $0 != ":" }
        let isScheme = scheme.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "+-.".contains($0)) }
        let rest = text.dropFirst(scheme.count)
        return isScheme && (rest.hasPrefix("://") || (rest.hasPrefix(":") && scheme.lowercased() == "data"))
    }

    /// Returns the argument with a transformed request, if it has a request.
    func changing(_ change: (ImageRequest) -> ImageRequest) -> ImageArgument {
        ImageArgument(name: name, request.map(change))
    }

    /// The path of a file, unchanged from the command line, or ``name`` for other images.
    var path: String {
        guard case .success(let request) = request, case .file(let path) = request.source else { return name }
        return path
    }

    /// The name for an output file of the image, without an extension. It is never empty.
    var fileStem: String { name == "-" ? "stdin" : safeName.stem }

    /// Returns the description of an error as the tool prints it, with the URL's password replaced by three dots.
    func problem(_ error: any Error) -> String {
        // The tool prints the name before the problem, so the URL in the error's description would repeat it.
        let (message, isLimit) =
            switch error {
            case let error as PipelineError: (error.message, error.code == .decoding(.exceedsLimit))
            case let error as ImageDecodingError: ("\(error)", error.code == .exceedsLimit)
            default: ("\(error)", false)
            }
        return withoutPassword(ProblemText.text(message, isLimit: isLimit))
    }

    /// Returns a text, such as an error's description, with the URL's password replaced by three dots.
    func withoutPassword(_ text: String) -> String {
        guard case .success(let request) = request, let url = request.url else { return text }
        return Self.withoutPassword(text, url)
    }

    /// Returns the text of an invalid URL with three dots instead of all that may be a user and a password.
    private static func withoutUser(_ text: String) -> String {
        guard let start = text.firstRange(of: "://")?.upperBound, let end = text.lastIndex(of: "@"), start < end else {
            return text
        }
        return text[..<start] + "..." + text[end...]
    }

    /// Returns the text of a URL as it was typed with three dots instead of its password. The URL may have another
    /// spelling of the password.
    private static func withoutTypedPassword(_ text: String) -> String {
        guard let start = text.firstRange(of: "://")?.upperBound else { return text }
        let authority = text[start...].prefix { !"/\\?#".contains($0) }
        guard let end = authority.lastIndex(of: "@"), let colon = authority[..<end].firstIndex(of: ":"),
            text.index(after: colon) < end
        else { return text }
        return text[...colon] + "..." + text[end...]
    }

    private static func withoutPassword(_ text: String, _ url: URL) -> String {
        guard let password = url.password(percentEncoded: true), !password.isEmpty else { return text }
        return text.replacing(":\(password)@", with: ":...@")
    }
}

extension ImageArgument {
    /// The last part of the image's path or URL as a safe file name, with its extension.
    var safeName: SafeName {
        guard case .success(let request) = request, case .file(let path) = request.source else {
            return SafeName(url: name)
        }
        return SafeName(path: path)
    }
}
