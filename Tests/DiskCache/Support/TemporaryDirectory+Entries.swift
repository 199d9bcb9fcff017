import AlcedoCore
import AlcedoLibc
import AlcedoRuntime
import FoundationEssentials
import TestSupport

extension TemporaryDirectory {
    /// Returns the path of an entry's file.
    func file(_ name: String) -> String { file(key(name)) }

    /// Returns the path of an entry's file without its path extension.
    func file(_ key: ImageKey) -> String { "\(path)/\(key.fileName.prefix(2))/\(key.fileName.dropFirst(2))" }

    /// Paths of all regular files below the directory except the index, sorted. Files may be removed meanwhile, such as
    /// one that a cache is writing.
    var files: [String] { Self.files(below: path).filter { !$0.hasSuffix("/index") }.sorted() }

    private static func files(below directory: String) -> [String] {
        (DirectoryListing.names(in: directory) ?? []).flatMap { name -> [String] in
            let path = "\(directory)/\(name)"
            var status = stat()
            guard lstat(path, &status) == 0 else { return [] }
            switch status.st_mode & S_IFMT {
            case S_IFDIR: return files(below: path)
            case S_IFREG: return [path]
            default: return []
            }
        }
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
