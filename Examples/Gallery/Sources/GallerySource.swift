#if GTK
    import Alcedo
    import ExampleSupport
    import FoundationEssentials

    /// Where the pictures are from.
    struct GallerySource {
        var title: String
        var items: [GalleryItem]
        /// The server that draws landscapes, when they are from there.
        var server: SceneServer?

        init(_ options: GalleryOptions, weather: NetworkWeather) throws {
            guard let first = options.names.first else {
                let server = try SceneServer(count: options.count, weather: weather)
                self.init(title: "Landscapes", items: server.items, server: server)
                return
            }
            if options.names == ["-"] {
                var lines: [String] = []
                while let line = readLine() { lines.append(line) }
                self.init(title: "Standard input", items: Self.items(named: lines.filter { !$0.isEmpty }))
            } else if options.names.count == 1, FileManager.default.isFolder(first) {
                let files = try FolderSource(path: first).files
                self.init(title: URL(filePath: first).lastPathComponent, items: Self.items(named: files))
            } else {
                self.init(title: "Named pictures", items: Self.items(named: options.names))
            }
        }

        private init(title: String, items: [GalleryItem], server: SceneServer? = nil) {
            self.title = title
            self.items = items
            self.server = server
        }

        private static func items(named names: [String]) -> [GalleryItem] {
            names.map { name in
                let image = ImageArgument(name)
                let last = image.name.split(separator: "/").last.map(String.init)
                return GalleryItem(name: last ?? image.name, origin: image.name, request: image.request)
            }
        }
    }

    extension FileManager {
        fileprivate func isFolder(_ path: String) -> Bool {
            var isFolder = false
            return fileExists(atPath: path, isDirectory: &isFolder) && isFolder
        }
    }
#endif
