import AlcedoLibc
import TestSupport

import struct FoundationEssentials.URL

/// A directory as it is where nobody may write. It is in no folder: only an open descriptor holds it, so that it ends with
/// the process, however that ends.
final class ReadOnlyView: Sendable {
    private let folder: HeldDirectory

    /// nil where this process may not make one.
    init?(of directory: TemporaryDirectory) throws {
        let view = try TemporaryDirectory()
        guard mount(directory.path, view.path, nil, UInt(MS_BIND), nil) == 0 else { return nil }
        let flags = UInt(MS_BIND) | UInt(MS_REMOUNT) | UInt(MS_RDONLY)
        let isReadOnly = mount("none", view.path, nil, flags, nil) == 0
        let held = HeldDirectory(view.path)
        umount2(view.path, Int32(MNT_DETACH))
        guard isReadOnly, let held else { return nil }
        folder = held
    }

    /// Whether this process may make one.
    static let isPermitted: Bool = (try? ReadOnlyView(of: TemporaryDirectory())) != nil

    var url: URL { URL(filePath: folder.path) }
}
