#if GTK
    import Alcedo
    import AlcedoTesting
    import FoundationEssentials

    /// The source of the gallery's images.
    struct GallerySource {
        var title: String
        var items: [GalleryItem]
        /// The reader of further image names; nil if the source is complete.
        var names: InputNames?
        /// The server that draws landscapes; nil for other sources.
        var server: SceneServer?

        init(_ options: GalleryOptions, conditions: NetworkConditions) throws {
            guard let first = options.names.first else {
                let server = try SceneServer(count: options.count, conditions: conditions)
                self.init(title: "Landscapes", items: server.items, server: server)
                return
            }
            if options.names == ["-"] {
                self.init(title: "Standard input", items: [], names: InputNames())
            } else if options.names.count == 1, FileManager.default.isDirectory(first) {
                let files = try DirectorySource(path: first).files
                self.init(title: URL(filePath: first).lastPathComponent, items: files.map { GalleryItem(named: $0) })
            } else {
                self.init(title: "Named images", items: options.names.map { GalleryItem(named: $0) })
            }
        }

        private init(title: String, items: [GalleryItem], names: InputNames? = nil, server: SceneServer? = nil) {
            self.title = title
            self.items = items
            self.names = names
            self.server = server
        }
    }

    extension FileManager {
        fileprivate func isDirectory(_ path: String) -> Bool {
            var isDirectory = false
            return fileExists(atPath: path, isDirectory: &isDirectory) && isDirectory
        }
    }

    /// The images in a directory and its subdirectories, recognized by their file extensions.
    struct DirectorySource {
        private static let endings: Set = ["png", "apng", "jpg", "jpeg", "gif", "webp"]

        /// The paths of the images, sorted.
        let files: [String]

        init(path: String) throws {
            var (visited, files) = (Set([Self.identity(of: path)]), [String]())
            try Self.walk(path, &visited, into: &files)
            self.files = files.sorted()
        }

        /// Returns a path that is the same for all paths and links to a directory.
        private static func identity(of path: String) -> String { URL(filePath: path).resolvingSymlinksInPath().path }

        /// Adds the images in a directory to `files`, recursively.
        ///
        /// - Parameters:
        ///   - directory: The path of the directory.
        ///   - visited: The directories that have been read. Each is read once, regardless of the number of links to
        ///     it.
        ///   - files: The paths found so far.
        private static func walk(
            _ directory: String, _ visited: inout Set<String>, into files: inout [String]
        ) throws {
            for name in try FileManager.default.contentsOfDirectory(atPath: directory).sorted()
            where !name.hasPrefix(".") {
                let path = directory.hasSuffix("/") ? directory + name : "\(directory)/\(name)"
                var isDirectory = false
                guard FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory) else { continue }
                if !isDirectory {
                    let end = name.lastIndex(of: ".").map { name[name.index(after: $0)...].lowercased() }
                    if let end, endings.contains(end) { files.append(path) }
                } else if visited.insert(identity(of: path)).inserted {
                    // Directories without read permission are skipped.
                    try? walk(path, &visited, into: &files)
                }
            }
        }
    }

    /// A server on 127.0.0.1 that draws a landscape for each number, in various formats.
    struct SceneServer {
        let items: [GalleryItem]
        // The server runs until this object is released.
        private let origin: LoopbackOrigin

        init(count: Int, conditions: NetworkConditions) throws {
            let origin = try LoopbackOrigin { request in
                guard let number = Int(request.path.dropFirst().prefix { $0 != "." }), (0..<count).contains(number)
                else { return .status(404) }
                // Each attempt fails independently, so a retry may succeed.
                var dice = SceneRandom(seed: UInt64(number) << 20 | UInt64(request.attempt))
                if dice.next(in: 0..<1) < conditions.failureRate { return .status(404) }
                guard let file = try? SceneFile(number: number).encoded() else { return .status(500) }
                return .ok(
                    file, type: "image/\(SceneFile(number: number).format)", fields: ["Cache-Control": "max-age=3600"])
            }
            self.origin = origin
            items = (0..<count).map { number in
                let file = SceneFile(number: number)
                let url = origin.url(for: "/\(number).\(file.format)")
                var request = ImageRequest(url: url)
                // The port differs in each run, but the image does not.
                request.resource = ResourceKey("landscape:\(number)")
                return GalleryItem(
                    name: file.name, origin: url.absoluteString, request: request, number: number)
            }
        }
    }
#endif
