#if GTK
    import FoundationEssentials

    /// The pictures below a folder, told by their names' ends.
    struct FolderSource {
        private static let endings: Set = ["png", "apng", "jpg", "jpeg", "gif", "webp"]
        /// Most folders one inside the other, where links lead round in a circle.
        private static let depthLimit = 16

        /// Paths, in order.
        let files: [String]

        init(path: String) throws {
            var files: [String] = []
            try Self.walk(path, depth: 0, into: &files)
            self.files = files.sorted()
        }

        private static func walk(_ folder: String, depth: Int, into files: inout [String]) throws {
            for name in try FileManager.default.contentsOfDirectory(atPath: folder) where !name.hasPrefix(".") {
                let path = folder.hasSuffix("/") ? folder + name : "\(folder)/\(name)"
                let end = name.lastIndex(of: ".").map { name[name.index(after: $0)...].lowercased() }
                if let end, endings.contains(end) {
                    files.append(path)
                } else if depth < depthLimit {
                    var isFolder = false
                    if FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), isFolder {
                        // A folder that may not be read has no pictures for us.
                        try? walk(path, depth: depth + 1, into: &files)
                    }
                }
            }
        }
    }
#endif
