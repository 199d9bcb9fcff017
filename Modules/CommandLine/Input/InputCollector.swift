import Alcedo
import AlcedoLibc
import AlcedoProgramSupport
import AlcedoRuntime
import FoundationEssentials

/// A collector of the images that arguments and lists name. Its methods block.
struct InputCollector {
    /// The maximum number of bytes of an image on standard input, the same as for a download: 128 MiB.
    private static let imageLimit = 128 << 20
    /// The maximum number of bytes of a list: 256 MiB, enough for a million long names.
    private static let listLimit = 256 << 20

    private(set) var items: [ImageList.Item] = []
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
            items += found
        } else {
            items.append(.named(name))
        }
    }
}

/// A recursive search for images by their extensions. Skips names that begin with a dot.
private struct ImageDirectories {
    private static let endings: Set<String> = {
        let names = Set(CodecRegistry.programs.entries.map(\.format.rawValue))
        return names.union(["apng", "jpg"]).union(names.contains("heif") ? ["heic", "hif"] : [])
    }()

    /// The directories visited in one search, so that links cause neither cycles nor repeated images.
    private var seen: Set<FileIdentity> = []

    /// Returns the images below a directory, sorted by name within each directory, or nil if the path is not a
    /// directory. A directory that cannot be listed and an image whose name is not UTF-8 become unreadable items.
    mutating func images(below path: String) -> [ImageList.Item]? {
        guard Self.isDirectory(path) else { return nil }
        // A directory that is named twice is listed twice.
        seen = []
        var items: [ImageList.Item] = []
        walk(path, into: &items)
        return items
    }

    private mutating func walk(_ directory: String, into items: inout [ImageList.Item]) {
        guard let identity = FileIdentity(path: directory), seen.insert(identity).inserted else { return }
        var names: [String] = []
        let number = DirectoryListing.forEachName(in: directory, followsLink: true) { bytes in
            guard bytes.first != UInt8(ascii: ".") else { return }
            if let name = String(validating: bytes, as: UTF8.self) {
                names.append(name)
            } else if Self.isImage(String(decoding: bytes, as: UTF8.self)) {
                let name = "\(directory)/\(String(decoding: bytes, as: UTF8.self))"
                items.append(.unreadable(name: name, reason: "the name is not UTF-8"))
            }
        }
        if number != 0 {
            let reason = String(cString: strerror(number))
            items.append(.unreadable(name: directory, reason: "cannot list the directory: \(reason)"))
        }
        for name in names.sorted() {
            let path = directory.hasSuffix("/") ? directory + name : "\(directory)/\(name)"
            if Self.isDirectory(path) {
                walk(path, into: &items)
            } else if Self.isImage(name) {
                items.append(.named(path))
            }
        }
    }

    private static func isImage(_ name: String) -> Bool {
        name.lastIndex(of: ".").map { endings.contains(name[name.index(after: $0)...].lowercased()) } ?? false
    }

    private static func isDirectory(_ path: String) -> Bool {
        var isDirectory = false
        return FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory) && isDirectory
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
