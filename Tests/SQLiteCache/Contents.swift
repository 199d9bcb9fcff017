import AlcedoCore
import FoundationEssentials
import TestSupport

func key(_ name: String, variant: String = "") -> ImageKey { ImageKey(ResourceKey(name), variant: variant) }

/// Returns varying bytes.
func bytes(_ count: Int, seed: Int = 0) -> Data {
    Data((0..<count).map { UInt8(truncatingIfNeeded: ($0 + seed) &* 131 >> 3) })
}

extension TemporaryDirectory {
    /// Paths of the files of large values.
    var valueFiles: [String] { Self.valueFiles(in: path) }

    static func valueFiles(in directory: String) -> [String] {
        let folders = (try? FileManager.default.contentsOfDirectory(atPath: directory + "/values")) ?? []
        return folders.flatMap { folder in
            let names = (try? FileManager.default.contentsOfDirectory(atPath: "\(directory)/values/\(folder)")) ?? []
            return names.map { "\(directory)/values/\(folder)/\($0)" }
        }
    }
}
