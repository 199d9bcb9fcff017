import AlcedoLibc
package import FoundationEssentials

/// A small file system in memory.
package final class SmallDisk: Sendable {
    private let held: HeldDirectory?
    private let mounted: TemporaryDirectory?
    package let path: String

    /// Whether this process may make a file system.
    package static let isPermitted: Bool = (try? SmallDisk()) != nil

    /// Creates nil if this process may not make a file system.
    ///
    /// - Parameters:
    ///   - kibibytes: The size.
    ///   - detaches: Whether the file system is in no directory, so that only an open descriptor holds it and it ends
    ///     with the process. SQLite needs a path that exists, where it stays mounted until this object is released.
    package init?(kibibytes: Int = 256, detaches: Bool = true) throws {
        let directory = try TemporaryDirectory()
        guard mount("none", directory.path, "tmpfs", 0, "size=\(kibibytes)k") == 0 else { return nil }
        guard detaches else {
            (held, mounted, path) = (nil, directory, directory.path)
            return
        }
        let held = HeldDirectory(directory.path)
        umount2(directory.path, Int32(MNT_DETACH))
        guard let held else { return nil }
        (self.held, mounted, path) = (held, nil, held.path)
    }

    deinit {
        if let mounted { umount2(mounted.path, Int32(MNT_DETACH)) }
    }

    package var url: URL { URL(filePath: path) }

    /// Relative paths of the finished and unfinished files.
    package var files: [String] {
        let directories = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
        return directories.flatMap { directory in
            let names = (try? FileManager.default.contentsOfDirectory(atPath: "\(path)/\(directory)")) ?? []
            return names.map { "\(directory)/\($0)" }
        }
    }

    /// Fills the remaining space with a file named `ballast`.
    package func fill() {
        let file = open(path + "/ballast", O_WRONLY | O_CREAT | O_APPEND, 0o600)
        let page = [UInt8](repeating: 1, count: 4096)
        while write(file, page, page.count) > 0 {}
        close(file)
    }
}
