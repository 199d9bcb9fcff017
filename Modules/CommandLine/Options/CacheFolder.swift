import Alcedo
import AlcedoLibc
import AlcedoProgramSupport
import AlcedoRuntime
import FoundationEssentials

/// A folder that somebody names as the cache, and that may be anything.
enum CacheFolder {
    /// Throws when something is there that a cache would take for its own, and when the folder should be a cache and is none.
    ///
    /// - Parameter isToBeOne: Whether other things may be there only beside a cache.
    static func check(_ directory: URL, isToBeOne: Bool) async throws {
        try await BlockingExecutor(name: "inputs", width: 1).run {
            let path = directory.path(percentEncoded: false)
            // What is not there yet is made; what cannot be read is told by the cache.
            guard let names = try? FileManager.default.contentsOfDirectory(atPath: path),
                let stranger = stranger(among: names, in: path, isToBeOne: isToBeOne)
            else { return }
            throw InputError(
                description: "\(path) is no cache: there is '\(stranger)', which no cache has made; "
                    + "a new or an empty folder will do")
        }
    }

    private static func stranger(among names: [String], in path: String, isToBeOne: Bool) -> String? {
        guard names.contains("index") else { return isToBeOne ? names.sorted().first { !isOfCache($0) } : nil }
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

    private static func isOfCache(_ name: String) -> Bool {
        if ["unfinished", "parts"].contains(name) { return true }
        // Entries are in folders of the first two digits of their names.
        return name.utf8.count == 2 && name.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
    }
}

/// The cache on disk where none is named.
enum DefaultCache {
    /// nil without a home, and where the home is none: then it cannot be made, as for the users of many services, and each
    /// load would tell of that. One that is there is used, whatever may be done to it.
    static var directory: URL? {
        guard let directory = ImagePipeline.Configuration.standardCacheDirectory else { return nil }
        var place = directory.path(percentEncoded: false)
        guard access(place, F_OK) != 0 else { return directory }
        // What is there already has to take what is not.
        while access(place, F_OK) != 0 {
            guard errno == ENOENT else { return nil }
            place = PathParts.folder(of: place.hasSuffix("/") ? String(place.dropLast()) : place)
            guard !place.isEmpty else { return nil }
        }
        return access(place, W_OK | X_OK) == 0 ? directory : nil
    }
}
