import FoundationEssentials

/// What a file that is made of an image may be called: after the last part of the image's path or URL.
struct SafeName {
    /// Most bytes: a file system takes 255, and numbers and endings follow.
    private static let byteLimit = 200

    /// Never empty.
    let text: String

    /// The name of a file as it is, but for what no name may have, and what commands terminals.
    init(path: String) {
        let last = PathParts.last(of: path)
        let safe = String.UnicodeScalarView(last.unicodeScalars.map { $0.isTerminalControl ? "_" : $0 })
        self.init(safe: String(safe))
    }

    /// The last part of a URL, of which a server may say anything: its plain letters, digits, `-`, `_` and dots.
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

    /// Without the extension; never empty, never hidden, and with no number after a plus sign, as the names of frames have.
    var stem: String {
        let stem = text.lastIndex(of: ".").map { text[..<$0] } ?? text[...]
        let visible = stem.drop { $0 == "." }
        guard let plus = visible.lastIndex(of: "+") else { return visible.isEmpty ? "image" : String(visible) }
        let number = visible[plus...].dropFirst()
        let isFrame = !number.isEmpty && number.utf8.allSatisfy { (0x30...0x39).contains($0) }
        return isFrame ? "\(visible[..<plus])_\(number)" : String(visible)
    }
}

/// Makes names of which no two are alike: an equal one gets a number.
package struct UniqueNames {
    private var taken: Set<String> = []
    /// The number to try next, of names that came more than once: without it each would try all again.
    private var numbers: [String: Int] = [:]

    package init() {}

    /// `dunes`, `dunes-2`, `dunes-3` …
    package mutating func unique(_ name: String) -> String {
        guard !taken.insert(name).inserted else { return name }
        var number = numbers[name] ?? 2
        while !taken.insert("\(name)-\(number)").inserted { number += 1 }
        numbers[name] = number + 1
        return "\(name)-\(number)"
    }
}
