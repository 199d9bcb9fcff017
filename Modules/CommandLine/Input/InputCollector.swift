import Alcedo
import AlcedoLibc
import AlcedoProgramSupport
import AlcedoRuntime
import FoundationEssentials

/// The images that arguments and lists name. Its methods block.
struct InputCollector {
    /// The maximum number of bytes of an image on standard input, the same as for a download: 128 MiB.
    private static let imageLimit = 128 << 20
    /// The maximum number of bytes of a list: 256 MiB, enough for a million long names.
    private static let listLimit = 256 << 20

    private(set) var items: [ImageList.Item] = []
    /// The directories with files that are not images.
    private(set) var skipped: [SkippedFiles] = []
    private var directories = ImageDirectories()

    /// Adds the images of an argument: standard input for `-`, a URL, a file, a directory or a pattern. A pattern is
    /// expanded only if no file has that name. A pattern without a match becomes an unreadable item.
    ///
    /// - Throws: ``InputError`` if standard input cannot be read or has more than 128 MiB.
    mutating func add(_ word: String) throws {
        if word == "-" {
            let data = try InputFile.read("-", limit: Self.imageLimit)
            let request = ImageRequest(source: .bytes(data, identity: "standard input"))
            items.append(.image(ImageArgument(name: "-", request: request)))
        } else if ImageArgument.isURL(word) || FileManager.default.fileExists(atPath: word) {
            addPath(word)
        } else if word.contains("\u{FFFD}") {
            items.append(.unreadable(name: word, reason: "no such file; names that are not UTF-8 are not supported"))
        } else if FilePattern.isPattern(word) {
            addMatches(of: word)
        } else {
            items.append(.named(word))
        }
    }

    /// Adds the images that a list names. In a list, patterns and `-` have no special meaning.
    ///
    /// - Parameters:
    ///   - list: The path of the list, or `-` for standard input.
    ///   - hasNulls: Whether zero bytes separate the names, instead of line feeds.
    /// - Throws: ``InputError`` if the list cannot be read or has more than 256 MiB.
    mutating func addAll(of list: String, hasNulls: Bool) throws {
        let data = try InputFile.read(list, limit: Self.listLimit)
        for line in data.split(separator: hasNulls ? 0 : UInt8(ascii: "\n")) {
            let name = !hasNulls && line.last == UInt8(ascii: "\r") ? line.dropLast() : line
            if name.isEmpty { continue }
            addPath(String(validating: name, as: UTF8.self), name)
        }
    }

    private mutating func addMatches(of pattern: String) {
        do throws(FilePattern.NoMatch) {
            for path in try FilePattern.paths(matching: pattern) {
                addPath(String(validating: path, as: UTF8.self), path)
            }
        } catch {
            items.append(.unreadable(name: pattern, reason: error.reason))
        }
    }

    private mutating func addPath(_ name: String?, _ bytes: Data) {
        if let name {
            addPath(name)
        } else {
            items.append(.unreadable(name: String(decoding: bytes, as: UTF8.self), reason: "the name is not UTF-8"))
        }
    }

    private mutating func addPath(_ name: String) {
        if !ImageArgument.isURL(name), let found = directories.images(below: name) {
            items += found.items
            if found.skippedCount > 0 { skipped.append(SkippedFiles(directory: name, count: found.skippedCount)) }
        } else {
            items.append(.named(name))
        }
    }
}

/// A recursive search for images. Skips names that begin with a dot.
///
/// A file is an image if its name ends like that of one, so that a damaged image is an error instead of missing, or if
/// a codec recognizes its beginning. Only files with other names are opened.
private struct ImageDirectories {
    private static let endings: Set<String> = {
        let names = Set(CodecRegistry.programs.entries.map(\.format.rawValue))
        let others = [
            "avif": ["avifs"], "bmp": ["dib"], "heif": ["heic", "heics", "heifs", "hif"],
            "jpeg": ["jpg", "jpe", "jfif", "jif", "pjpeg", "pjp", "mpo"], "png": ["apng"], "svg": ["svgz"],
            "tiff": ["tif", "btf", "tf8"],
        ]
        return names.union(others.flatMap { names.contains($0.key) ? $0.value : [] })
    }()

    /// The directories visited in one search, so that links cause neither cycles nor repeated images.
    private var seen: Set<FileIdentity> = []

    /// The result of a search.
    struct Found {
        var items: [ImageList.Item] = []
        /// The number of files that are not images.
        var skippedCount = 0
    }

    /// Returns the images below a directory, sorted by name within each directory, or nil if the path is not a
    /// directory. A directory that cannot be listed and an image whose name is not UTF-8 become unreadable items.
    mutating func images(below path: String) -> Found? {
        guard FileKind(PathBytes(path.utf8)) == .directory else { return nil }
        // A directory that is named twice is listed twice.
        seen = []
        var found = Found()
        walk(path, into: &found)
        return found
    }

    private mutating func walk(_ directory: String, into found: inout Found) {
        guard let identity = FileIdentity(path: directory), seen.insert(identity).inserted else { return }
        let start = directory.hasSuffix("/") ? directory : "\(directory)/"
        var names: [String] = []
        let number = DirectoryListing.forEachName(in: directory, followsLink: true) { bytes in
            guard bytes.first != UInt8(ascii: ".") else { return }
            if let name = String(validating: bytes, as: UTF8.self) { return names.append(name) }
            let name = String(decoding: bytes, as: UTF8.self)
            let path = PathBytes(Array(start.utf8) + bytes)
            guard FileKind(path) != .directory else { return }
            if Self.isImage(name, at: path) {
                found.items.append(.unreadable(name: start + name, reason: "the name is not UTF-8"))
            } else {
                found.skippedCount += 1
            }
        }
        if number != 0 {
            let reason = String(cString: strerror(number))
            found.items.append(.unreadable(name: directory, reason: "cannot list the directory: \(reason)"))
        }
        for name in names.sorted() {
            let path = start + name
            if FileKind(PathBytes(path.utf8)) == .directory {
                walk(path, into: &found)
            } else if Self.isImage(name, at: PathBytes(path.utf8)) {
                found.items.append(.named(path))
            } else {
                found.skippedCount += 1
            }
        }
    }

    private static func isImage(_ name: String, at path: PathBytes) -> Bool {
        if let dot = name.lastIndex(of: "."), endings.contains(name[name.index(after: dot)...].lowercased()) {
            return true
        }
        return FileKind(path) == .file && FileBeginning(path).isImage
    }
}

/// A path as the system expects it. It need not be UTF-8.
private struct PathBytes {
    /// The bytes, with a zero at the end.
    let bytes: [CChar]

    init(_ bytes: some Sequence<UInt8>) { self.bytes = bytes.map { CChar(bitPattern: $0) } + [0] }
}

/// The kind of a file, after links.
private enum FileKind {
    case file, directory
    /// A file that may block a reader, such as a pipe, or none at all.
    case other

    init(_ path: PathBytes) {
        var status = stat()
        let result = stat(path.bytes, &status)
        switch status.st_mode & S_IFMT {
        case S_IFREG where result == 0: self = .file
        case S_IFDIR where result == 0: self = .directory
        default: self = .other
        }
    }
}

/// The first bytes of a file, by which the format of an image is recognized.
private struct FileBeginning {
    /// The number of bytes that are read. The root element of an SVG can follow a long comment.
    private static let byteCount = 4_096
    private var bytes = Data()

    /// Reads the beginning. It is empty if the file cannot be read.
    init(_ path: PathBytes) {
        let file = open(path.bytes, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
        guard file >= 0 else { return }
        defer { close(file) }
        var buffer = Data(count: Self.byteCount)
        let count = buffer.withUnsafeMutableBytes { pread(file, $0.baseAddress, $0.count, 0) }
        bytes = buffer.prefix(max(0, count))
    }

    /// Whether the beginning is that of an image. Formats whose signature other files share need more than that.
    var isImage: Bool {
        switch CodecRegistry.programs.entry(for: bytes)?.format.rawValue {
        case nil: false
        // Any compressed file may begin like a compressed SVG. The beginning of one has a root element.
        case "svg" where bytes.starts(with: [0x1F, 0x8B]): (try? CodecRegistry.programs.inspect(bytes)) != nil
        // Any XML may begin like an SVG.
        case "svg": bytes.firstRange(of: Data("<svg".utf8)) != nil || bytes.firstRange(of: Data(":svg".utf8)) != nil
        // Two letters are the signature. The size of the header follows.
        case "bmp" where bytes.starts(with: "BM".utf8):
            bytes.count >= 18 && bytes[15..<18].allSatisfy { $0 == 0 } && 12...124 ~= bytes[14]
        // Without a file header, the bit count follows the signature.
        case "bmp": bytes.count >= 40 && [1, 4, 8, 16, 24, 32].contains(bytes[14]) && bytes[15] == 0
        default: true
        }
    }
}

/// Shell patterns of file names. Source: glob(7).
private enum FilePattern {
    /// Returns whether the text contains a pattern character. A bracket without a closing one is an ordinary character.
    static func isPattern(_ text: String) -> Bool {
        if text.contains(where: { "*?".contains($0) }) { return true }
        // A closing bracket directly after the opening one is a member of the set.
        return text.firstIndex(of: "[").map { text[$0...].dropFirst(2).contains("]") } ?? false
    }

    /// Returns the bytes of the matching paths in sorted order. Throws ``NoMatch`` with the reason if no path matches
    /// or the search fails.
    static func paths(matching text: String) throws(NoMatch) -> [Data] {
        var found = glob_t()
        defer { globfree(&found) }
        switch glob(text, 0, nil, &found) {
        case 0: break
        case GLOB_NOMATCH: throw NoMatch(reason: listingError(text) ?? "no file matches")
        default: throw NoMatch(reason: "cannot list the files: \(String(cString: strerror(ENOMEM)))")
        }
        return (0..<Int(found.gl_pathc)).compactMap { index in
            found.gl_pathv[index].map { Data(bytes: $0, count: strlen($0)) }
        }
    }

    /// The error of a pattern for which no file was found.
    struct NoMatch: Error {
        var reason: String
    }

    /// Returns an error message if a directory that the pattern searches exists but cannot be listed, otherwise nil.
    /// Without `GLOB_ERR`, `glob` skips such directories.
    private static func listingError(_ text: String) -> String? {
        var found = glob_t()
        defer { globfree(&found) }
        guard glob(text, GLOB_ERR, nil, &found) == GLOB_ABORTED, errno != ENOENT else { return nil }
        return "cannot list the directory: \(String(cString: strerror(errno)))"
    }
}
