/// The last part of a path or URL, as far as it is safe in the name of a file.
struct SafeName {
    /// Never empty.
    let text: String

    init(_ name: String) {
        let last = name.split(separator: "/").last.map { $0.prefix { $0 != "?" && $0 != "#" } } ?? ""
        let safe = last.filter { $0.isASCII && ($0.isLetter || $0.isNumber || "-_.".contains($0)) }.prefix(80)
        text = safe.isEmpty ? "image" : String(safe)
    }

    /// Without the extension; never empty.
    var stem: String {
        let stem = text.lastIndex(of: ".").map { text[..<$0] } ?? text[...]
        let visible = stem.drop { $0 == "." }
        return visible.isEmpty ? "image" : String(visible)
    }
}
