import AlcedoCore
import AlcedoLibc

/// An open folder that several files share.
final class OpenFolder: Sendable {
    let descriptor: Descriptor

    /// - Parameter path: Of a folder, not of a link to one: that is refused with `ENOTDIR`.
    init(_ path: String) throws(SystemRefusal) {
        descriptor = try Descriptor(opening: path, Descriptor.onlyPath | O_NOFOLLOW)
    }
}
