import Alcedo
import AlcedoLibc
import AlcedoProgramSupport
import AlcedoRuntime
import FoundationEssentials

/// A folder that somebody names as the cache, and that may be anything.
enum CacheDirectory {
    /// Throws when something is there that a cache would take for its own, and when the folder should be a cache and is none.
    ///
    /// - Parameter isToBeOne: Whether other things may be there only beside a cache.
    static func check(_ directory: URL, mustExist: Bool) async throws {
        try await BlockingExecutor(name: "inputs", width: 1).run {
            let path = directory.path(percentEncoded: false)
            // What is not there yet is made; what cannot be read is told by the cache.
            guard let names = try? FileManager.default.contentsOfDirectory(atPath: path),
                let foreignName = foreignName(among: names, in: path, mustExist: mustExist)
            else { return }
            throw InputError(
                description: "\(path) is no cache: there is '\(foreignName)', which no cache has made; "
                    + "a new or an empty folder will do")
        }
    }

    private static func foreignName(among names: [String], in path: String, mustExist: Bool) -> String? {
        guard names.contains("index") else { return mustExist ? names.sorted().first { !isCacheEntry($0) } : nil }
        // Made together with it; without it, as where somebody takes away empty folders, the index tells whose it is.
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
        // Entries are in folders of the first two digits of their names.
        return name.utf8.count == 2 && name.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
    }
}
