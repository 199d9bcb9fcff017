import FoundationEssentials
import TestSupport

extension TemporaryDirectory {
    /// Paths of the files of large values.
    var valueFiles: [String] { Self.valueFiles(in: path) }

    static func valueFiles(in directory: String) -> [String] {
        let shards = (try? FileManager.default.contentsOfDirectory(atPath: directory + "/values")) ?? []
        return shards.flatMap { shard in
            let names = (try? FileManager.default.contentsOfDirectory(atPath: "\(directory)/values/\(shard)")) ?? []
            return names.map { "\(directory)/values/\(shard)/\($0)" }
        }
    }
}
