import AlcedoLibc
import TestSupport

import struct FoundationEssentials.URL

/// A directory as it is where nobody may write. SQLite wants a path that leads somewhere, so it stays in its place until it
/// goes.
final class ReadOnlyMount {
    private let place: TemporaryDirectory

    /// nil where this process may not make one.
    init?(of directory: TemporaryDirectory) throws {
        place = try TemporaryDirectory()
        guard mount(directory.path, place.path, nil, UInt(MS_BIND), nil) == 0 else { return nil }
        let flags = UInt(MS_BIND) | UInt(MS_REMOUNT) | UInt(MS_RDONLY)
        guard mount("none", place.path, nil, flags, nil) == 0 else { return nil }
    }

    deinit { umount2(place.path, Int32(MNT_DETACH)) }

    /// Whether this process may make one.
    static let isPermitted: Bool = (try? ReadOnlyMount(of: TemporaryDirectory())) != nil

    var url: URL { place.url }
}
