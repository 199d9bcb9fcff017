import AlcedoProgramSupport
import FoundationEssentials

/// A safe name for an output file, derived from the last part of an image's path or URL.
struct SafeName {
    /// The maximum number of bytes: 200. File systems allow 255, and numbers and extensions are appended.
    private static let byteLimit = 200

    /// The name, which is never empty.
    let text: String

    /// Creates a name from a path. Replaces control characters with underscores and keeps the rest.
    init(path: String) {
        let last = PathParts.last(of: path)
        let safe = String.UnicodeScalarView(last.unicodeScalars.map { $0.isTerminalControl ? "_" : $0 })
        self.init(safe: String(safe))
    }

    /// Creates a name from a URL. Keeps only ASCII letters, digits, `-`, `_` and dots, because the URL may come from a
    /// server.
    init(url: String) {
        let last = PathParts.last(of: String(url.prefix { $0 != "?" && $0 != "#" }))
        let safe = (URL(string: "/\(last)")?.path(percentEncoded: false) ?? last)
            .filter { $0.isASCII && ($0.isLetter || $0.isNumber || "-_.".contains($0)) }
        self.init(safe: safe)
    }

    private init(safe: String) {
        var count = 0
        let prefix = safe.prefix { character in
            count += character.utf8.count
            return count <= Self.byteLimit
        }
        text = prefix.isEmpty ? "image" : String(prefix)
    }

    /// The name without its extension. It is never empty, does not begin with a dot, and does not end with a plus sign
    /// and a number, as the names of frames do.
    var stem: String {
        let stem = text.lastIndex(of: ".").map { text[..<$0] } ?? text[...]
        let visible = stem.drop { $0 == "." }
        guard let plus = visible.lastIndex(of: "+") else { return visible.isEmpty ? "image" : String(visible) }
        let number = visible[plus...].dropFirst()
        let isFrame = !number.isEmpty && number.utf8.allSatisfy { (0x30...0x39).contains($0) }
        return isFrame ? "\(visible[..<plus])_\(number)" : String(visible)
    }
}

/// The names of outputs that are taken. A repeated name gets a number, as in `dunes-2`.
struct UniqueNames {
    private var taken: Set<String> = []
    /// The next number for each repeated name, which avoids testing all earlier numbers again.
    private var numbers: [String: Int] = [:]

    /// Returns the name, with a number if the name is already taken. For example, `dunes` gives `dunes`, `dunes-2`,
    /// `dunes-3`.
    mutating func unique(_ name: String) -> String {
        guard !taken.insert(name).inserted else { return name }
        var number = numbers[name] ?? 2
        while !taken.insert("\(name)-\(number)").inserted { number += 1 }
        numbers[name] = number + 1
        return "\(name)-\(number)"
    }
}
