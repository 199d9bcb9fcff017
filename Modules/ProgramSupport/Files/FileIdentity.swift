import AlcedoLibc

/// Which file a path leads to, by whatever name and over whatever links.
package struct FileIdentity: Hashable, Sendable {
    private let device: UInt
    private let number: UInt

    /// nil when there is no file.
    package init?(path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        (device, number) = (UInt(status.st_dev), UInt(status.st_ino))
    }

    /// As ``init(path:)``, of a link itself.
    init?(linkAt path: String) {
        var status = stat()
        guard lstat(path, &status) == 0 else { return nil }
        (device, number) = (UInt(status.st_dev), UInt(status.st_ino))
    }
}

/// A path by its slashes, as the system sees them: one that a combining mark follows is part of another character.
package enum PathParts {
    private static let slash = UInt8(ascii: "/")

    /// Up to the last slash, with it; empty where there is none.
    package static func directory(of path: String) -> String {
        path.utf8.lastIndex(of: slash).map { String(path[..<$0]) + "/" } ?? ""
    }

    /// What stands behind the last slash; all where there is none.
    package static func name(of path: String) -> String {
        path.utf8.lastIndex(of: slash).map { String(path[path.utf8.index(after: $0)...]) } ?? path
    }

    /// The last part that is not empty; empty when there is none.
    package static func last(of path: String) -> String {
        path.utf8.split(separator: slash).last.map { String(Substring($0)) } ?? ""
    }
}
