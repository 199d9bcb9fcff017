import FoundationEssentials
import TestSupport

extension TemporaryDirectory {
    /// Paths of the files of large values.
    var valueFiles: [String] { Self.valueFiles(in: path) }

    static func valueFiles(in directory: String) -> [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory + "/values")) ?? []
        return names.map { "\(directory)/values/\($0)" }
    }
}
