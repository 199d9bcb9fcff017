#if GTK
    import Alcedo
    import ExampleSupport

    /// One picture of the gallery.
    struct GalleryItem: Sendable {
        /// What a person calls it, and searches for.
        var name: String
        /// Where it is from, as shown with its details.
        var origin: String
        /// What to load, or why there is nothing that could be loaded.
        var request: Result<ImageRequest, any Error>
        /// The number that the picture itself shows; nil for pictures that are not drawn here.
        var number: Int?
    }

    extension GalleryItem {
        /// A URL or a path, as a person writes it.
        init(named text: String) {
            let image = ImageArgument(text)
            let last = PathParts.last(of: image.name)
            self.init(name: last.isEmpty ? image.name : last, origin: image.name, request: image.request)
        }
    }
#endif
