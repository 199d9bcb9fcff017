import AlcedoLibc
import FoundationEssentials
import TestSupport

/// A small file system in memory. It has no path: only an open descriptor holds it, so that it ends with the process.
final class SmallDisk: Sendable {
    private let folder: HeldDirectory

    /// Whether this process may make a file system.
    static let isPermitted: Bool = (try? SmallDisk()) != nil

    init?(kibibytes: Int = 256) throws {
        let directory = try TemporaryDirectory()
        guard mount("none", directory.path, "tmpfs", 0, "size=\(kibibytes)k") == 0 else { return nil }
        let held = HeldDirectory(directory.path)
        umount2(directory.path, Int32(MNT_DETACH))
        guard let held else { return nil }
        folder = held
    }

    var path: String { folder.path }
    var url: URL { URL(filePath: path) }

    /// Relative paths of the finished and unfinished files.
    var files: [String] {
        let folders = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
        return folders.flatMap { folder in
            let names = (try? FileManager.default.contentsOfDirectory(atPath: "\(path)/\(folder)")) ?? []
            return names.map { "\(folder)/\($0)" }
        }
    }

    /// Fills the remaining space with a file named `ballast`.
    func fill() {
        let file = open(path + "/ballast", O_WRONLY | O_CREAT | O_APPEND, 0o600)
        let page = [UInt8](repeating: 1, count: 4096)
        while write(file, page, page.count) > 0 {}
        close(file)
    }
}
