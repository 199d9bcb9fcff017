import FoundationEssentials

/// A folder that a benchmark works in, and that goes with it.
struct BenchFolder {
    let url: URL

    init(in directory: URL) throws {
        url = directory.appending(path: "alcedo-bench-\(UUID().uuidString)")
        BenchCleanup.begin(url)
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    func remove() {
        try? FileManager.default.removeItem(at: url)
        BenchCleanup.end(url)
    }
}
