import Alcedo
import FoundationEssentials

/// Finds out which images words stand for. Blocks.
public struct InputGathering {
    public private(set) var items: [ImageList.Item] = []
    private var folders = ImageFolders()

    public init() {}

    /// A word of the command line. Throws ``InputError``.
    public mutating func add(_ word: String) throws {
        if word == "-" {
            let data = try InputFile.read("-", limit: InputFile.imageLimit)
            let request = ImageRequest(source: .bytes(data, identity: "standard input"))
            items.append(.image(ImageArgument(name: "-", request: request)))
        } else if ImageArgument.isURL(word) || FileManager.default.fileExists(atPath: word) {
            addPlace(word)
        } else if word.contains("\u{FFFD}") {
            items.append(.trouble(name: word, reason: "no such file; a name that is not UTF-8 cannot be given"))
        } else if let paths = FilePattern.paths(matching: word) {
            if paths.isEmpty { items.append(.trouble(name: word, reason: "no file matches")) }
            for path in paths { addPlace(path) }
        } else {
            items.append(.named(word))
        }
    }

    /// The names of a list, as they are: neither patterns nor standard input. Throws ``InputError``.
    public mutating func addAll(of list: String, hasNulls: Bool) throws {
        let data = try InputFile.read(list, limit: InputFile.listLimit)
        for line in data.split(separator: hasNulls ? 0 : UInt8(ascii: "\n")) {
            let name = !hasNulls && line.last == UInt8(ascii: "\r") ? line.dropLast() : line
            if name.isEmpty { continue }
            addPlace(String(validating: name, as: UTF8.self), name)
        }
    }

    private mutating func addPlace(_ name: String?, _ bytes: Data) {
        if let name {
            addPlace(name)
        } else {
            items.append(.trouble(name: String(decoding: bytes, as: UTF8.self), reason: "the name is not UTF-8"))
        }
    }

    private mutating func addPlace(_ name: String) {
        if !ImageArgument.isURL(name), let found = folders.images(below: name) {
            items += found
        } else {
            items.append(.named(name))
        }
    }
}
