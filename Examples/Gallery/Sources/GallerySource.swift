#if GTK
    import Alcedo
    import AlcedoTesting
    import FoundationEssentials

    /// Where the pictures are from.
    struct GallerySource {
        var title: String
        var items: [GalleryItem]
        /// Where more are named, when there is such a place.
        var names: InputNames?
        /// The server that draws landscapes, when they are from there.
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
                self.init(title: "Named pictures", items: options.names.map { GalleryItem(named: $0) })
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

    /// The images below a directory, found by their names' ends.
    struct DirectorySource {
        private static let endings: Set = ["png", "apng", "jpg", "jpeg", "gif", "webp"]

        /// Paths, in order.
        let files: [String]

        init(path: String) throws {
            var (visited, files) = (Set([Self.identity(of: path)]), [String]())
            try Self.walk(path, &visited, into: &files)
            self.files = files.sorted()
        }

        /// The same for all paths that lead to a directory.
        private static func identity(of path: String) -> String { URL(filePath: path).resolvingSymlinksInPath().path }

        /// - Parameter visited: Directories that were read. Each is read once, however many links lead to it.
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
                    // A directory that may not be read has no images for us.
                    try? walk(path, &visited, into: &files)
                }
            }
        }
    }

    /// A server on 127.0.0.1 that draws a landscape for each number, in all formats.
    struct SceneServer {
        let items: [GalleryItem]
        // Serves as long as somebody holds it.
        private let origin: LoopbackOrigin

        init(count: Int, conditions: NetworkConditions) throws {
            let origin = try LoopbackOrigin { request in
                guard let number = Int(request.path.dropFirst().prefix { $0 != "." }), (0..<count).contains(number)
                else { return .status(404) }
                // A picture that is not to be had may be the next time.
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
                // The port changes from run to run; the picture does not.
                request.resource = ResourceKey("landscape:\(number)")
                return GalleryItem(
                    name: file.name, origin: url.absoluteString, request: request, number: number)
            }
        }
    }
#endif
