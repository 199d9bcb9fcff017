/// A path by its slashes, as the system sees them: one that a combining mark follows is part of another character.
public enum PathParts {
    private static let slash = UInt8(ascii: "/")

    /// Up to the last slash, with it; empty where there is none.
    public static func folder(of path: String) -> String {
        path.utf8.lastIndex(of: slash).map { String(path[..<$0]) + "/" } ?? ""
    }

    /// What stands behind the last slash; all where there is none.
    public static func name(of path: String) -> String {
        path.utf8.lastIndex(of: slash).map { String(path[path.utf8.index(after: $0)...]) } ?? path
    }

    /// The last part that is not empty; empty when there is none.
    public static func last(of path: String) -> String {
        path.utf8.split(separator: slash).last.map { String(Substring($0)) } ?? ""
    }
}
