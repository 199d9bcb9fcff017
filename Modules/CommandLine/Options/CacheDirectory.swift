import Alcedo
import AlcedoLibc
import AlcedoProgramSupport
import AlcedoRuntime
import FoundationEssentials

/// Checks of a directory before it is used as a cache.
enum CacheDirectory {
    /// Throws if the directory contains a file named `index` that is not the index of a cache. If `mustExist` is true,
    /// also throws if the directory has no index but contains a file that is not a cache entry.
    ///
    /// - Parameters:
    ///   - directory: The cache directory. A directory that is empty, absent or unreadable passes.
    ///   - mustExist: Whether a directory with files must already be a cache.
    /// - Throws: An ``InputError`` that names the foreign file.
    static func check(_ directory: URL, mustExist: Bool) async throws {
        try await BlockingExecutor(name: "inputs", maxConcurrent: 1).run {
            let path = directory.path(percentEncoded: false)
            // The cache creates an absent directory, and reports an unreadable one.
            guard let names = try? FileManager.default.contentsOfDirectory(atPath: path),
                let foreignName = foreignName(among: names, in: path, mustExist: mustExist)
            else { return }
            throw InputError(
                description: "\(path) is not a cache directory: it contains '\(foreignName)'; "
                    + "use a new or empty directory")
        }
    }

    private static func foreignName(among names: [String], in path: String, mustExist: Bool) -> String? {
        guard names.contains("index") else { return mustExist ? names.sorted().first { !isCacheEntry($0) } : nil }
        // The cache creates the directory `unfinished` together with `index`. If a cleanup removed that directory
        // because it was empty, the magic number of the index still identifies a cache.
        return names.contains("unfinished") || isIndex("\(path)/index") ? nil : "index"
    }

    private static func isIndex(_ path: String) -> Bool {
        let magic = Array("ADOIDX".utf8)
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard file >= 0 else { return false }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: magic.count)
        return read(file, &bytes, bytes.count) == bytes.count && bytes == magic
    }

    private static func isCacheEntry(_ name: String) -> Bool {
        if ["unfinished", "parts"].contains(name) { return true }
        // Entries are stored in subdirectories named by the first two hexadecimal digits of the entry's name.
        return name.utf8.count == 2 && name.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
    }
}
