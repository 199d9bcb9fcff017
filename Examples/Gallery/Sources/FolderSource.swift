#if GTK
    import ExampleSupport
    import FoundationEssentials

    /// The pictures below a folder, told by their names' ends.
    struct FolderSource {
        private static let endings: Set = ["png", "apng", "jpg", "jpeg", "gif", "webp"]

        /// Paths, in order.
        let files: [String]

        init(path: String) throws {
            var (folders, files) = (Set([FileIdentity(path: path)]), [String]())
            try Self.walk(path, &folders, into: &files)
            self.files = files.sorted()
        }

        /// - Parameter folders: Where this has been: each folder is looked at once, however many links lead to it.
        private static func walk(
            _ folder: String, _ folders: inout Set<FileIdentity?>, into files: inout [String]
        ) throws {
            for name in try FileManager.default.contentsOfDirectory(atPath: folder).sorted() where !name.hasPrefix(".")
            {
                let path = folder.hasSuffix("/") ? folder + name : "\(folder)/\(name)"
                var isFolder = false
                guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else { continue }
                if !isFolder {
                    let end = name.lastIndex(of: ".").map { name[name.index(after: $0)...].lowercased() }
                    if let end, endings.contains(end) { files.append(path) }
                } else if folders.insert(FileIdentity(path: path)).inserted {
                    // A folder that may not be read has no pictures for us.
                    try? walk(path, &folders, into: &files)
                }
            }
        }
    }
#endif
