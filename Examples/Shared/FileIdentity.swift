import AlcedoLibc

/// Which file a path leads to, by whatever name and over whatever links.
public struct FileIdentity: Hashable, Sendable {
    private let device: UInt
    private let number: UInt

    /// nil when there is no file.
    public init?(path: String) {
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
