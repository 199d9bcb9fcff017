import AlcedoCore
import AlcedoLibc
import FoundationEssentials
import TestSupport

extension TemporaryDirectory {
    /// Returns the path of an entry's file.
    func file(_ key: String) -> String { "\(path)/\(name(key).prefix(2))/\(name(key).dropFirst(2))" }

    private func name(_ text: String) -> String { key(text).fileName }

    /// Paths of all regular files below the directory except the index, sorted.
    var files: [String] {
        // A listing fails if a file is removed meanwhile, such as one that a cache is writing.
        var names: [String]?
        for _ in 0..<100 where names == nil { names = try? FileManager.default.subpathsOfDirectory(atPath: path) }
        return (names ?? []).map { "\(path)/\($0)" }.filter {
            guard !$0.hasSuffix("/index") else { return false }
            let type = try? FileManager.default.attributesOfItem(atPath: $0)[.type] as? FileAttributeType
            return type == .typeRegular
        }.sorted()
    }

    /// The bytes that the file system has allocated for the entries' files. A released cache may still be writing an
    /// index.
    var fileSizes: Int {
        files.filter { !$0.contains("/unfinished/") }.reduce(0) { sum, path in
            var status = stat()
            return lstat(path, &status) == 0 ? sum + Int(status.st_blocks) * 512 : sum
        }
    }

    /// Names in the directory of unfinished files, sorted.
    var unfinished: [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: path + "/unfinished")) ?? []).sorted()
    }
}
