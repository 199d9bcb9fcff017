/// The parts of a path, split at slash bytes as the system does. A `Character` comparison would miss a slash that a
/// combining mark follows.
package enum PathParts {
    private static let slash = UInt8(ascii: "/")

    /// Returns the path up to and including the last slash, or an empty text if there is no slash.
    package static func directory(of path: String) -> String {
        path.utf8.lastIndex(of: slash).map { String(path[..<$0]) + "/" } ?? ""
    }

    /// Returns the text after the last slash, or the whole path if there is no slash.
    package static func name(of path: String) -> String {
        path.utf8.lastIndex(of: slash).map { String(path[path.utf8.index(after: $0)...]) } ?? path
    }

    /// Returns the last part that is not empty, or an empty text if there is none.
    package static func last(of path: String) -> String {
        path.utf8.split(separator: slash).last.map { String(Substring($0)) } ?? ""
    }
}
