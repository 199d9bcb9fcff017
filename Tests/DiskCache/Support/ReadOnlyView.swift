import AlcedoLibc
import TestSupport

import struct FoundationEssentials.URL

/// A read-only view of a directory. It has no path: only an open descriptor holds it, so that it ends with the process.
final class ReadOnlyView: Sendable {
    private let held: HeldDirectory

    /// Creates nil if this process may not make a view.
    init?(of directory: TemporaryDirectory) throws {
        let view = try TemporaryDirectory()
        guard mount(directory.path, view.path, nil, UInt(MS_BIND), nil) == 0 else { return nil }
        let flags = UInt(MS_BIND) | UInt(MS_REMOUNT) | UInt(MS_RDONLY)
        let isReadOnly = mount("none", view.path, nil, flags, nil) == 0
        let held = HeldDirectory(view.path)
        umount2(view.path, Int32(MNT_DETACH))
        guard isReadOnly, let held else { return nil }
        self.held = held
    }

    /// Whether this process may make a view.
    static let isPermitted: Bool = (try? ReadOnlyView(of: TemporaryDirectory())) != nil

    var url: URL { URL(filePath: held.path) }
}
