import Alcedo
import AlcedoProgramSupport
import FoundationEssentials

/// The destination of output files that `--output` specifies.
enum OutputDestination: Sendable {
    case standardOutput
    /// A single file at this path.
    case file(String)
    /// A directory, in which files have the names of their images.
    case directory(String)
    /// Files whose names follow the pattern that ends this path, without its extension.
    case pattern(String, NamePattern)
    /// The directories of thumbnails that desktops share, with names by the specification.
    case sharedThumbnails

    /// Parses the value of `--output`: `-` is standard output, the name of a file in an accepted format is a file, and
    /// any other text is a directory. The path of an existing directory and a text that ends with a slash are always
    /// directories.
    ///
    /// - Parameters:
    ///   - text: The value of the option.
    ///   - formats: The names of the accepted formats, for messages, or nil if only a directory is accepted.
    ///   - takesPattern: Whether the last part of a path may be a pattern of names of images. Default: false.
    ///   - isFile: Returns whether a text is the name of a file in an accepted format. Default: returns false for every
    ///     text.
    /// - Throws: ``UsageError`` if the text has the file extension of an image but not of an accepted format, which
    ///   is unlikely to mean a directory, or if a pattern has an unknown field.
    init(
        _ text: String, formats: String? = nil, takesPattern: Bool = false, isFile: (String) -> Bool = { _ in false }
    ) throws {
        if text == "-" {
            self = .standardOutput
        } else if Self.isDirectory(text) {
            self = .directory(text)
        } else if takesPattern, let field = NamePattern.unknownField(in: PathParts.name(of: text)) {
            throw UsageError("--output has no field \(field); its fields are {name} and {size}")
        } else if takesPattern, NamePattern.isPattern(PathParts.name(of: text)) {
            self = try Self.pattern(text)
        } else if isFile(text) {
            self = .file(text)
        } else if ImageFileExtension.isImage(text) {
            throw UsageError(
                formats.map { "the extension of '\(text)' does not match \($0)" }
                    ?? "--output needs a directory; write '\(text)/' for a new one"
            )
        } else {
            self = .directory(text)
        }
    }

    private static func pattern(_ text: String) throws -> Self {
        let name = PathParts.name(of: text)
        if OutputFormat(fileName: name) != nil, let dot = name.lastIndex(of: ".") {
            return .pattern(text, NamePattern(String(name[..<dot])))
        }
        guard !ImageFileExtension.isImage(name) else {
            throw UsageError("the extension of '\(text)' does not match \(OutputFormat.names)")
        }
        return .pattern(text, NamePattern(name))
    }

    /// Returns the format that the extension of the file or of the pattern selects, or `given` without one.
    ///
    /// - Throws: ``UsageError`` if both are given and differ.
    func format(or given: OutputFormat?) throws -> OutputFormat? {
        guard let path, let named = OutputFormat(fileName: path) else { return given }
        if let given, given != named {
            throw UsageError("the extension of '\(path)' does not match the format \(given.rawValue)")
        }
        return named
    }

    /// The path of the only file, or of the pattern; otherwise nil.
    private var path: String? {
        switch self {
        case .file(let path), .pattern(let path, _): path
        case .standardOutput, .directory, .sharedThumbnails: nil
        }
    }

    /// The pattern of the names of files, or nil for the default.
    var pattern: NamePattern? {
        if case .pattern(_, let pattern) = self { pattern } else { nil }
    }

    /// Checks that files of several images, or of several sizes, have names of their own. Throws ``UsageError`` if they
    /// do not.
    func check(imageCount: Int, sizes: [Int]) throws {
        switch self {
        case .standardOutput, .file:
            if imageCount > 1 { throw UsageError("several images need a directory for --output") }
            if sizes.count > 1 {
                throw UsageError("several sizes need a directory for --output, or {size} in the name of the file")
            }
        case .pattern(_, let pattern):
            if imageCount > 1, !pattern.hasName { throw UsageError("several images need {name} in --output") }
            if sizes.count > 1, !pattern.hasSize { throw UsageError("several sizes need {size} in --output") }
            if sizes.isEmpty, pattern.hasSize { throw UsageError("{size} in --output needs --size") }
        case .directory, .sharedThumbnails: break
        }
    }

    /// Whether the text is the path of an existing directory, or ends with a slash.
    private static func isDirectory(_ text: String) -> Bool {
        var isDirectory = false
        return text.hasSuffix("/")
            || FileManager.default.fileExists(atPath: text, isDirectory: &isDirectory) && isDirectory
    }
}

/// The file extensions of images, including formats that the tool does not write.
enum ImageFileExtension {
    private static let images: Set = [
        "apng", "avif", "bmp", "dng", "eps", "exr", "gif", "heic", "heif", "ico", "j2k", "jfif", "jp2", "jpe", "jpeg",
        "jpg", "jxl", "pam", "pbm", "pcx", "pdf", "pgm", "png", "pnm", "ppm", "psd", "qoi", "rgba", "svg", "tga", "tif",
        "tiff", "webp", "xcf",
    ]

    static func isImage(_ path: String) -> Bool {
        let name = PathParts.name(of: path)
        return name.lastIndex(of: ".").map { images.contains(name[name.index(after: $0)...].lowercased()) } ?? false
    }
}
