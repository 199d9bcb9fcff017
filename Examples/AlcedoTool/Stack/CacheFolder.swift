import Alcedo
import ExampleSupport
import FoundationEssentials

/// A folder that somebody names as the cache, and that may be anything.
enum CacheFolder {
    /// Throws when something is there that no cache has made: a cache would take a file in the place of its index for a
    /// damaged one, and make it anew.
    static func check(_ directory: URL) async throws {
        try await BlockingExecutor(name: "inputs", width: 1).run {
            let path = directory.path(percentEncoded: false)
            // What is not there yet is made; what cannot be read is told by the cache.
            guard let names = try? FileManager.default.contentsOfDirectory(atPath: path),
                let stranger = stranger(among: names)
            else { return }
            throw InputError(
                description: "\(path) is no cache: there is '\(stranger)', which no cache has made; "
                    + "a new or an empty folder will do")
        }
    }

    private static func stranger(among names: [String]) -> String? {
        if let name = names.sorted().first(where: { !isOfCache($0) }) { return name }
        // They are made together.
        return names.contains("index") && !names.contains("unfinished") ? "index" : nil
    }

    private static func isOfCache(_ name: String) -> Bool {
        if ["index", "unfinished", "parts"].contains(name) { return true }
        // Entries are in folders of the first two digits of their names.
        return name.utf8.count == 2 && name.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
    }
}
