package import AlcedoLibc

/// The identity of a file: its device and inode, which are the same for every path and link. It distinguishes a file
/// from a later file of the same name while the first one is open.
package struct FileIdentity: Hashable, Sendable {
    private let device: UInt64
    private let node: UInt64

    /// Creates the identity of the file at a path, following links. Returns nil if there is no file or it cannot be
    /// accessed.
    package init?(path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        self.init(status)
    }

    /// Creates the identity of the file at a path without following a final link. Returns nil if there is no file or it
    /// cannot be accessed.
    package init?(linkAt path: String) {
        var status = stat()
        guard lstat(path, &status) == 0 else { return nil }
        self.init(status)
    }

    package init(_ status: stat) {
        device = UInt64(status.st_dev)
        node = UInt64(status.st_ino)
    }
}
