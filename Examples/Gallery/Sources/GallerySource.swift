#if GTK
    import Alcedo
    import FoundationEssentials

    /// Where the pictures are from.
    struct GallerySource {
        var title: String
        var items: [GalleryItem]
        /// Where more are named, when there is such a place.
        var names: InputNames?
        /// The server that draws landscapes, when they are from there.
        var server: SceneServer?

        init(_ options: GalleryOptions, weather: NetworkWeather) throws {
            guard let first = options.names.first else {
                let server = try SceneServer(count: options.count, weather: weather)
                self.init(title: "Landscapes", items: server.items, server: server)
                return
            }
            if options.names == ["-"] {
                self.init(title: "Standard input", items: [], names: InputNames())
            } else if options.names.count == 1, FileManager.default.isFolder(first) {
                let files = try FolderSource(path: first).files
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
        fileprivate func isFolder(_ path: String) -> Bool {
            var isFolder = false
            return fileExists(atPath: path, isDirectory: &isFolder) && isFolder
        }
    }
#endif
