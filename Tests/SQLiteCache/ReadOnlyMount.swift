import AlcedoLibc
import TestSupport

import struct FoundationEssentials.URL

/// A read-only directory. SQLite needs a path that exists, so it stays mounted until this object is released.
final class ReadOnlyMount {
    private let place: TemporaryDirectory

    /// Creates nil if this process may not make a mount.
    init?(of directory: TemporaryDirectory) throws {
        place = try TemporaryDirectory()
        guard mount(directory.path, place.path, nil, UInt(MS_BIND), nil) == 0 else { return nil }
        let flags = UInt(MS_BIND) | UInt(MS_REMOUNT) | UInt(MS_RDONLY)
        guard mount("none", place.path, nil, flags, nil) == 0 else { return nil }
    }

    deinit { umount2(place.path, Int32(MNT_DETACH)) }

    /// Whether this process may make a mount.
    static let isPermitted: Bool = (try? ReadOnlyMount(of: TemporaryDirectory())) != nil

    var url: URL { place.url }
}
